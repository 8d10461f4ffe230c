nestc fmt - <messy.nest
nestc fmt --check messy.nest tests.nest failing.nest
nestc fmt --diff tests.nest
nestc fmt --diff --check - <ragged.nest
nestc fmt missing.nest
nestc fmt - <unclosed.nest
cp messy.nest fresh.tmp; nestc fmt fresh.tmp && nestc fmt --check fresh.tmp; rm fresh.tmp
