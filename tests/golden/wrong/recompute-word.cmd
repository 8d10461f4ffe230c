nestc compile recompute-word.nest --emit=manifest -o plan.json
