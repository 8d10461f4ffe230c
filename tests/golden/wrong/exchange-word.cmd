nestc compile exchange-word.nest --emit=manifest -o plan.json
