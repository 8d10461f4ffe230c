nestc compile split-by-data.nest --emit=manifest -o plan.json
