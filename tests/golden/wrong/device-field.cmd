nestc check device-field.nest
