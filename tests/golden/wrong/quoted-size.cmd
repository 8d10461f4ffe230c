nestc compile quoted-size.nest --emit=manifest -o plan.json
