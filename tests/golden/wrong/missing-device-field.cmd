nestc compile missing-device-field.nest --emit=manifest -o plan.json
