nestc check lost-declaration.nest
