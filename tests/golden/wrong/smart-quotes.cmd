nestc compile smart-quotes.nest --emit=manifest -o plan.json
