nestc check import-braces.nest
