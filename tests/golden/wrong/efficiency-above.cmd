nestc check efficiency-above.nest
