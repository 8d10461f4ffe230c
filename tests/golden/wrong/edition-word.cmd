nestc check edition-word.nest
