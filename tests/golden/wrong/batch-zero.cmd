nestc compile batch-zero.nest --emit=manifest -o plan.json
