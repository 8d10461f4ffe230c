nestc compile collective-by-hand.nest --emit=manifest -o plan.json
