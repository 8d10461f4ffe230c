nestc check errors.nest
