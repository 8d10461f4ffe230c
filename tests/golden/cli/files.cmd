nestc check missing.nest
nestc compile missing.nest --diagnostics=json
nestc compile tiny.nest -o missing/plan.txt
nestc compile tiny.nest -o .
nestc compile tiny.nest >/dev/full
nestc compile tiny.nest -o /dev/full
nestc check tiny.nest --dump=ast >/dev/full
nestc compile tiny.nest --emit=summary=one.txt --emit=manifest=missing/two.json; ls one.txt
nestc compile tiny.nest --emit=summary=one.txt --emit=manifest=two.json -MD one.d && head -3 one.txt && head -2 two.json && cat one.d; rm -f one.txt two.json one.d
nestc check tiny.nest -MD /dev/stdout
cat tiny.nest | sed 's,"./cluster.nest","./tests/none.nest",' | nestc check -
