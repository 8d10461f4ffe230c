nestc check --diagnostics=json edition.nest
