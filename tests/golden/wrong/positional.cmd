nestc compile positional.nest --emit=manifest -o plan.json
