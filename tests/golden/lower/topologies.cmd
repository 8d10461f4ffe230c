nestc check topologies.nest
