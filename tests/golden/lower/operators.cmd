nestc check operators.nest
