nestc compile import-no-std.nest --emit=manifest -o plan.json
