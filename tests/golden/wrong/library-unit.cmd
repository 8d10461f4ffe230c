nestc check library-unit.nest
