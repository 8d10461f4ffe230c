nestc check search-item.nest
