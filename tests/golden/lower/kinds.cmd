nestc compile kinds.nest --job=run_after --dump=ir
nestc compile kinds.nest --job=run_many --dump=ir
nestc compile kinds.nest --job=run_named --dump=ir
nestc compile kinds.nest --job=too_many --dump=ir
nestc compile kinds.nest --job=fits --dump=ir | grep -v '^    ' | sed -n '/^topology/,$p'
