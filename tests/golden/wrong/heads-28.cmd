nestc compile heads-28.nest --emit=manifest -o plan.json
