nestc compile wrong-dimension.nest --emit=manifest -o plan.json
