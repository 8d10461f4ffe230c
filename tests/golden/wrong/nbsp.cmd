nestc compile nbsp.nest --emit=manifest -o plan.json
