nestc check models.nest
