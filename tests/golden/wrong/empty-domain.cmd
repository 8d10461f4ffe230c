nestc compile empty-domain.nest --emit=manifest -o plan.json
