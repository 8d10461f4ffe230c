# measured times in place of modelled ones: the summary says how many
nestc compile spec.nest | sed -n '/^Plan/,/^Rate/p; /^Measured/,$p'
nestc explain spec.nest | grep -A99 '^Layer llama_block' | sed -n '/sum/,/^$/p'
# with the exchanges of the layer in its time
nestc explain spec.nest -D measured='"included.json"' | grep -A99 '^Layer llama_block' | sed -n '/sum/,/^$/p'
# what is not measured is scaled as what is
nestc compile spec.nest -D measured='"scaled.json"' | sed -n '/^Plan/,/^Rate/p; /^Measured/,$p'
nestc check spec.nest -D measured='"unit.json"'
nestc compile spec.nest --emit=manifest | grep -A6 '"profile"'
nestc compile spec.nest --dump=ir | grep profile
nestc check spec.nest -MD /dev/stdout | grep json
# several kinds of layers of one template; with full recomputation measured
nestc compile kinds.nest --emit=profile
nestc check kinds.nest -D measured='"kinds-unclear.json"'
