nestc check model-field.nest
