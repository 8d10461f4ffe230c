nestc check minimize-comma.nest
