nestc check level-field.nest
