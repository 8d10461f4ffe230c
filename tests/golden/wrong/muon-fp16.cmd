nestc compile muon-fp16.nest --emit=manifest -o plan.json
