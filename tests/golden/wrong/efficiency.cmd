nestc compile efficiency.nest --emit=manifest -o plan.json
