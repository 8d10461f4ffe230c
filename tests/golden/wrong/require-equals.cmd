nestc check require-equals.nest
