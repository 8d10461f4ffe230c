nestc check no-rate.nest
