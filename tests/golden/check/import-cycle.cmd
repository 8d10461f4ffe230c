nestc check modules/ring-a.nest
