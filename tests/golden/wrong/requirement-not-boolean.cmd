nestc compile requirement-not-boolean.nest --emit=manifest -o plan.json
