nestc compile import-cycle.nest --emit=manifest -o plan.json
