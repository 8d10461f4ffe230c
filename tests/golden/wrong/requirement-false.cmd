nestc compile requirement-false.nest --emit=manifest -o plan.json
