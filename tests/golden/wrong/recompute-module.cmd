nestc compile recompute-module.nest --job=absent --emit=manifest -o plan.json
nestc compile recompute-module.nest --job=inside --emit=manifest -o plan.json
nestc compile recompute-module.nest --job=scaled --emit=manifest -o plan.json
