nestc check experts.nest
