nestc compile minimize-throughput.nest --emit=manifest -o plan.json
