nestc compile unknown-variable.nest --emit=manifest -o plan.json
