nestc --help
nestc help check
nestc compile --help
nestc list -h
