nestc compile experts-indivisible.nest --emit=manifest -o plan.json
