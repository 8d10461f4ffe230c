nestc compile duplicate-name.nest --emit=manifest -o plan.json
