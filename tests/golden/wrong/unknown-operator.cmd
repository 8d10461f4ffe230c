nestc compile unknown-operator.nest --emit=manifest -o plan.json
