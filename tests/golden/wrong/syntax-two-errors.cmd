nestc compile syntax-two-errors.nest --emit=manifest -o plan.json
