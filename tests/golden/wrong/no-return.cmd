nestc compile no-return.nest --emit=manifest -o plan.json
