nestc compile not-yet.nest --emit=manifest -o plan.json
