nestc compile router-groups.nest --job first
nestc compile router-groups.nest --job second
