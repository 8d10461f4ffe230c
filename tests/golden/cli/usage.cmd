nestc
nestc complie tiny.nest
nestc frobnicate
nestc compile
nestc compile tiny.nest infeasible_memory.nest
nestc compile tiny.nest --emti=summary
nestc compile tiny.nest --emi=summary
nestc compile tiny.nest --emit=sumary
nestc compile tiny.nest --emit=summary --emit=manifest
nestc compile tiny.nest --emit=summary=a --emit=manifest=b -o c
nestc compile tiny.nest --emit=summary=a --emit=manifest=a
nestc compile tiny.nest --timing=1
nestc compile tiny.nest --job
nestc compile tiny.nest --job=other
nestc compile tiny.nest -z
nestc compile tiny.nest -D batch
nestc compile tiny.nest -D bacth=3
nestc compile tiny.nest --gap=most
nestc compile tiny.nest --time-limit=3GiB
nestc compile tiny.nest --ranks=some
nestc check tiny.nest --emit=summary
nestc list tiny.nest
nestc explain E9999
