nestc check job-field-equals.nest
