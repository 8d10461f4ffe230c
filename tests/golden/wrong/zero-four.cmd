nestc compile zero-four.nest --emit=manifest -o plan.json
