nestc compile bare-number.nest --emit=manifest -o plan.json
