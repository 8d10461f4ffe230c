nestc check ternary.nest
