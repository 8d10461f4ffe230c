nestc check leading-dot.nest
