nestc compile recursive-let.nest --emit=manifest -o plan.json
