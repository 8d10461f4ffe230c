nestc compile missing-argument.nest --emit=manifest -o plan.json
