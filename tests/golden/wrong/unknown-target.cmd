nestc compile unknown-target.nest --emit=manifest -o plan.json
