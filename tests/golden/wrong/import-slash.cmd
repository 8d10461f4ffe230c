nestc compile import-slash.nest --emit=manifest -o plan.json
