nestc check import-directory.nest
