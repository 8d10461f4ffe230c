nestc check job-sequence.nest
