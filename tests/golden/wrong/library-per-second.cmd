nestc check library-per-second.nest
