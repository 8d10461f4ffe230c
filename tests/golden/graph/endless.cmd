nestc check endless.nest
