nestc compile c-or-not.nest --emit=manifest -o plan.json
