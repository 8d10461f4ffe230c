nestc check edition-string.nest
