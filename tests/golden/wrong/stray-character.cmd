nestc compile stray-character.nest --emit=manifest -o plan.json
