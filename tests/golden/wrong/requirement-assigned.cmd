nestc check requirement-assigned.nest
