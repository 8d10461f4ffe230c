nestc compile unknown-module.nest --emit=manifest -o plan.json
