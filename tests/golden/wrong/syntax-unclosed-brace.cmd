nestc compile syntax-unclosed-brace.nest --emit=manifest -o plan.json
