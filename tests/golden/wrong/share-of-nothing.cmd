nestc compile share-of-nothing.nest --emit=manifest -o plan.json
