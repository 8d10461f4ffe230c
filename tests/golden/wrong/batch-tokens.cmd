nestc compile batch-tokens.nest --emit=manifest -o plan.json
