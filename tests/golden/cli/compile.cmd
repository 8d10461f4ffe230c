nestc check tiny.nest
nestc compile tiny.nest
nestc compile tiny.nest --emit=manifest
nestc compile tiny.nest --emit=manifest --ranks=factors -D batch=32 | sed -n '/"spec"/,/}$/p;/"placement"/,/^  }/p'
nestc compile tiny.nest --emit=megatron
nestc explain tiny.nest
nestc params tiny.nest
nestc params tiny.nest --json
