nestc compile exchange-of-dense.nest --emit=manifest -o plan.json
