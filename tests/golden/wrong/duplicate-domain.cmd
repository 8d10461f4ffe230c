nestc compile duplicate-domain.nest --emit=manifest -o plan.json
