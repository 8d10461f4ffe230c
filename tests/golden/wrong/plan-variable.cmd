nestc compile plan-variable.nest --emit=manifest -o plan.json
