nestc compile division-by-zero.nest --emit=manifest -o plan.json
