nestc check children.nest
