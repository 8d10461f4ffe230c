nestc compile place-level.nest --emit=manifest -o plan.json
