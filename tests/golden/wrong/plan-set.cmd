nestc compile plan-set.nest --emit=manifest -o plan.json
