nestc compile split-unknown-axis.nest --emit=manifest -o plan.json
