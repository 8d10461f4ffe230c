nestc compile thousands.nest --emit=manifest -o plan.json
