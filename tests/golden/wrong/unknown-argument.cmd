nestc compile unknown-argument.nest --emit=manifest -o plan.json
