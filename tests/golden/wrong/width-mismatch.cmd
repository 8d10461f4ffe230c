nestc compile width-mismatch.nest --emit=manifest -o plan.json
