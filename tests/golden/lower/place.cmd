nestc check place.nest
nestc compile place.nest --job=good | grep -A 4 Placement
nestc compile place.nest --job=beyond
