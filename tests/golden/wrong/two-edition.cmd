nestc compile two-edition.nest --emit=manifest -o plan.json
