nestc check import-star.nest
