nestc check cuts.nest
