nestc compile big-loop.nest --emit=manifest -o plan.json
