nestc compile yaml-colon.nest --emit=manifest -o plan.json
