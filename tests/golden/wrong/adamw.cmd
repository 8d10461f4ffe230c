nestc compile adamw.nest --emit=manifest -o plan.json
