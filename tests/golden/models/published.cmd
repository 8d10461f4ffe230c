nestc test published.nest
