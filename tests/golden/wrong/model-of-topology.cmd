nestc compile model-of-topology.nest --emit=manifest -o plan.json
