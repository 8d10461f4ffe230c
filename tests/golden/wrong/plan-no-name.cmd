nestc compile plan-no-name.nest --emit=manifest -o plan.json
