nestc compile layer-count.nest --emit=manifest -o plan.json
