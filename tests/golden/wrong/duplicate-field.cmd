nestc compile duplicate-field.nest --emit=manifest -o plan.json
