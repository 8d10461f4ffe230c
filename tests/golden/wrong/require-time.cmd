nestc check --solve require-time.nest 2>&1 | sed "s, with .*, with ..,"
