nestc compile layers-field.nest --emit=manifest -o plan.json
