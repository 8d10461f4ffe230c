nestc compile impossible-memory.nest --emit=manifest -o plan.json
