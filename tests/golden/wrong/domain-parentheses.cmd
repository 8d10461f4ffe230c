nestc check domain-parentheses.nest
