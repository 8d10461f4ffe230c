nestc compile bad-domain.nest --emit=manifest -o plan.json
