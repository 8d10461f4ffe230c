nestc compile tensor-beyond-node.nest --emit=manifest -o plan.json
