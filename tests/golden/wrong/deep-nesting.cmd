nestc compile deep-nesting.nest --emit=manifest -o plan.json
