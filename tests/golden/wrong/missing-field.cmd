nestc compile missing-field.nest --emit=manifest -o plan.json
