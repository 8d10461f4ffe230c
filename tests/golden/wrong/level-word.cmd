nestc check level-word.nest
