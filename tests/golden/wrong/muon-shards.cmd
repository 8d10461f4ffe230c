nestc compile muon-shards.nest --emit=manifest -o plan.json
