nestc check hiding.nest
nestc check deprecated.nest
nestc check units.nest
nestc check units.nest -W no-suspicious-unit -E unused-allow
nestc check units.nest -Werror -q 2>&1 | grep -c error
nestc check --solve ../wrong/impossible-memory.nest
nestc check --solve tests.nest
