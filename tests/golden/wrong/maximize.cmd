nestc compile maximize.nest --emit=manifest -o plan.json
