nestc check splits.nest
