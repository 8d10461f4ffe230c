nestc compile batch-not-divisible.nest --emit=manifest -o plan.json
