nestc compile degrees-beyond-cluster.nest --emit=manifest -o plan.json
