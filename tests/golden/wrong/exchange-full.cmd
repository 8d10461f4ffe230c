nestc compile exchange-full.nest --emit=manifest -o plan.json
