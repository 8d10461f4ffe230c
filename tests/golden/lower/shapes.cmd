nestc check shapes.nest
