nestc compile exchange-redone.nest --emit=manifest -o plan.json
