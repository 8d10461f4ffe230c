nestc compile python-true.nest --emit=manifest -o plan.json
