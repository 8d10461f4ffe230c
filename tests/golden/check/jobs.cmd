nestc compile jobs.nest
nestc compile --job secnd jobs.nest
nestc compile --job third jobs.nest
nestc compile modules/one.nest
