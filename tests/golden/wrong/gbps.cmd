nestc compile gbps.nest --emit=manifest -o plan.json
