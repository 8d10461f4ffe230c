nestc compile indivisible-degree.nest --emit=manifest -o plan.json
