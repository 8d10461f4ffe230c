nestc check virtual-alone.nest
