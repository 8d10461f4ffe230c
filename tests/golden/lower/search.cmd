nestc check search.nest
