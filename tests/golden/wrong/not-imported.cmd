nestc compile not-imported.nest --emit=manifest -o plan.json
