nestc compile heads-not-dividing.nest --emit=manifest -o plan.json
