nestc compile syntax-operator.nest --emit=manifest -o plan.json
