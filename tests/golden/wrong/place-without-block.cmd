nestc compile place-without-block.nest --emit=manifest -o plan.json
