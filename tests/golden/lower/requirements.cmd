nestc check requirements.nest
