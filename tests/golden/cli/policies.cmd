nestc compile policies.nest --job policies
nestc compile policies.nest --job policies --plan everything_first
nestc compile policies.nest --job policies --plan whole_shards
nestc compile policies.nest --job never_full
nestc compile policies.nest --job no_such_schedule
