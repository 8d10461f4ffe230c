nestc compile wrong-parameter.nest --emit=manifest -o plan.json
