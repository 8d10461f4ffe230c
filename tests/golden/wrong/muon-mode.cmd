nestc compile muon-mode.nest --emit=manifest -o plan.json
