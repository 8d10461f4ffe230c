nestc compile chain-if.nest --emit=manifest -o plan.json
