nestc compile prefer-no-weight.nest --emit=manifest -o plan.json
