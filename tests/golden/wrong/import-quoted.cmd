nestc check import-quoted.nest
