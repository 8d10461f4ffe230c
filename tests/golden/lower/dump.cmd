nestc check --dump=ir dump.nest
