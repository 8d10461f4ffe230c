nestc test tests.nest
nestc test failing.nest
nestc test failing.nest tests.nest missing.nest 2>/dev/null
nestc test messy.nest
nestc test empty.nest
nestc test misplaced.nest
nestc check job-as-value.nest
