nestc compile level-string.nest --emit=manifest -o plan.json
