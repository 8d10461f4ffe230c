nestc check not-equal.nest
