nestc compile unit-mismatch.nest --emit=manifest -o plan.json
