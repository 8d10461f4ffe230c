nestc check library-argument.nest
