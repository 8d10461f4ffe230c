nestc compile unknown-name.nest --emit=manifest -o plan.json
