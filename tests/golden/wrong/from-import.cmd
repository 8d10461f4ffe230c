nestc compile from-import.nest --emit=manifest -o plan.json
