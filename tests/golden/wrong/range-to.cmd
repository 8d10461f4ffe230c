nestc compile range-to.nest --emit=manifest -o plan.json
