nestc check schedule-interleaved.nest
