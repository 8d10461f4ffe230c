nestc compile pipeline-beyond-layers.nest --emit=manifest -o plan.json
