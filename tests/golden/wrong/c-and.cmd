nestc compile c-and.nest --emit=manifest -o plan.json
