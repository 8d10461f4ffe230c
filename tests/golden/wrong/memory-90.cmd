nestc compile memory-90.nest --emit=manifest -o plan.json
