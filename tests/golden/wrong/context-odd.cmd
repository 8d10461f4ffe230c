nestc compile context-odd.nest --emit=manifest -o plan.json
