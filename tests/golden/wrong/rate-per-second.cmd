nestc check rate-per-second.nest
