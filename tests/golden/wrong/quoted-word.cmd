nestc compile quoted-word.nest --emit=manifest -o plan.json
