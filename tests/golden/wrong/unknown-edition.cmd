nestc compile unknown-edition.nest --emit=manifest -o plan.json
