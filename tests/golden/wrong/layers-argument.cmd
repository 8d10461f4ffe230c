nestc compile layers-argument.nest --emit=manifest -o plan.json
