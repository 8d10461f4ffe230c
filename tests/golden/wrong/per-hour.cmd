nestc compile per-hour.nest --emit=manifest -o plan.json
