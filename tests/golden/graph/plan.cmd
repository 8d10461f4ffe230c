nestc compile plan.nest
nestc compile plan.nest --emit=manifest | sed -n '/"cluster"/,/^  },/p'
nestc compile plan.nest --emit=manifest | grep -E '_time"|"routed"|"rank": [03],'
nestc explain plan.nest | grep -E '^Stage|links|->|send|routed'
nestc compare plan.nest | awk '/^  (strategy|nest|manual|alpa)/ { print $1, $2, $3, $4 }'
nestc compile plan.nest --dump=ir | grep '^  level'
