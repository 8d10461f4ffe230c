nestc compile unknown-unit.nest --emit=manifest -o plan.json
