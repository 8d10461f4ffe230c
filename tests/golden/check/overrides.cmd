nestc check -D nodes=8 overrides.nest
nestc check -D nodes=2.5 overrides.nest
nestc check -D memory=96 overrides.nest
nestc check -D memory=3us overrides.nest
nestc check -D node=8 overrides.nest
nestc check -D gpus=8 overrides.nest
nestc check -D 'nodes=8 +' overrides.nest
