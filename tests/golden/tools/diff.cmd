# a spec against itself, and two plans
nestc diff tests.nest tests.nest && echo the same
nestc diff diff-one.json diff-two.json
nestc diff diff-two.json diff-one.json --json
nestc diff diff-one.json diff-one.json
nestc diff diff-one.json broken-plan.json
nestc diff diff-one.json nowhere.json
nestc diff diff-one.json unclosed.nest
