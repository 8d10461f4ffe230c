nestc compile fp8-on-a100.nest --emit=manifest -o plan.json
