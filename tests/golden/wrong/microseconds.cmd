nestc check microseconds.nest
