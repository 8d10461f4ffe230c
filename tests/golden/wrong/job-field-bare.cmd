nestc check job-field-bare.nest
