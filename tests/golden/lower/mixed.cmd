nestc compile mixed.nest --job=train --dump=ir | sed -n '/^topology/,$p'
nestc compile mixed.nest --job=small_box --dump=ir | grep -v '^    '  | sed -n '/^topology/,$p'
nestc compile mixed.nest --job=alike --dump=ir | grep -v '^    ' | sed -n '/^topology/,$p'
nestc eval mixed.nest -e pools -e pools.devices -e pools.cluster.bandwidth -e one_kind.devices
nestc eval mixed.nest --json -e one_kind.rack
nestc fmt --check mixed.nest
