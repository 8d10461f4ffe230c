nestc check schedule-1f1b.nest
