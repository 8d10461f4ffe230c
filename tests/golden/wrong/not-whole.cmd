nestc compile not-whole.nest --emit=manifest -o plan.json
