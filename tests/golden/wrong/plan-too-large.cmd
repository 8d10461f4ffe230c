nestc compile plan-too-large.nest --plan=ours --emit=manifest -o plan.json
