nestc compile else-no-string.nest --emit=manifest -o plan.json
