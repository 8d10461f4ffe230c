nestc compile unknown-job-field.nest --emit=manifest -o plan.json
