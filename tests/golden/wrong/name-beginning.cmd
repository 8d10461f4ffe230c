nestc check name-beginning.nest
