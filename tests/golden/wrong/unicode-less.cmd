nestc compile unicode-less.nest --emit=manifest -o plan.json
