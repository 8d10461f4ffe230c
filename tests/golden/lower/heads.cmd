nestc check heads.nest
