nestc compile domain-number.nest --emit=manifest -o plan.json
