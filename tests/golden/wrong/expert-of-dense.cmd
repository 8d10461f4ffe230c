nestc compile expert-of-dense.nest --emit=manifest -o plan.json
