nestc compile recursive-function.nest --emit=manifest -o plan.json
