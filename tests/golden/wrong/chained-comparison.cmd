nestc compile chained-comparison.nest --emit=manifest -o plan.json
