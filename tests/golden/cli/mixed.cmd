nestc compile mixed.nest --job=both
nestc compile mixed.nest --job=both --emit=manifest --ranks=factors | sed -n '/"cluster"/,/"parallelism"/p'
nestc compile mixed.nest --job=both --emit=manifest | sed -n '/"placement"/,/"predicted"/p' | grep -v '"rank": [2-9]'
nestc explain mixed.nest --job=both --layer=lm_head
nestc explain mixed.nest --job=both | sed -n '/^Stage/,$p'
nestc compile mixed.nest --job=one | sed -n 1,4p
nestc compile mixed.nest --job=alike
nestc compile mixed.nest --job=alike --emit=manifest | grep '"device": [78],'
nestc compare mixed.nest --job=both
nestc compile mixed.nest --job=both --emit=profile
nestc compile mixed.nest --job=no_room
nestc compile mixed.nest --job=pinned
