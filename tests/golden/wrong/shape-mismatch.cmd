nestc compile shape-mismatch.nest --emit=manifest -o plan.json
