nestc compile when-missing.nest --emit=manifest -o plan.json
