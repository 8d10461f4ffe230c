nestc check place-devices.nest
nestc compile place-devices.nest --job=pinned --dump=ir | grep place
nestc compile place-devices.nest --job=pinned --emit=manifest | grep -o '"path": "[^"]*", "tensor": 0.*"pipeline": .'
nestc compile place-devices.nest --job=around | grep -A 5 Placement
nestc compile place-devices.nest --job=around --emit=manifest | grep -o '"device": [0-9]*,.*gpu.'
nestc compile place-devices.nest --job=in_order | grep -A 6 Placement
nestc compile place-devices.nest --job=in_order --emit=manifest | grep -A 1 linear
nestc compile place-devices.nest --job=in_order --emit=manifest | grep -o '"device": [0-9]*,.*gpu.'
nestc compile place-devices.nest --job=too_many
nestc compile place-devices.nest --job=too_far
nestc compile place-devices.nest --job=around --solver=manual --emit=manifest | grep -o '"device": [0-9]*,.*gpu.'
