nestc compile domain-equals.nest --emit=manifest -o plan.json
