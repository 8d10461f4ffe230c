nestc compile reserved.nest --emit=manifest -o plan.json
