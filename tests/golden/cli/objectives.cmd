# Values are those of the cost model, which other tests are about: digits are taken out.
nestc check objectives.nest
for job in cheap few mine; do echo "$job"; nestc compile objectives.nest --job=$job | sed -n '/^Plans/,/^Proof/p' | sed 's/ data .*//; s/[0-9][0-9.]* ms/N ms/; s/[0-9]*[.][0-9][0-9]*/N/g; s/  */ /g'; done
for job in cheap few cool lean mine preferred; do nestc compile objectives.nest --job=$job | sed -n '/^Proof/s/[0-9]*[.][0-9][0-9]*/N/gp'; done
nestc explain objectives.nest --job=cheap --top 2 | sed -n '/cost/,/^$/p' | sed 's/[0-9]*[.][0-9]*/N/g; s/  */ /g' | cut -c 1-40
nestc explain objectives.nest --job=cheap --why-not 'data = 8' | sed -n '/^It/s/[0-9]*[.][0-9]*/N/gp'
nestc compare objectives.nest --job=few --solver=nest | sed -n '3,$p'
nestc compile objectives.nest --job=hasty 2>&1 | sed 's/data [0-9].* and /PLAN and /; s/[0-9.]* ms/N ms/'
nestc compile objectives.nest --job=thrifty 2>&1 | sed 's/data [0-9].* and /PLAN and /; s/[0-9.]* ms/N ms/'
nestc compile objectives.nest --job=torn
nestc compile objectives.nest --job=nodes | grep -A 4 '^Placement'
nestc compile objectives.nest --job=nodes --emit=megatron | grep -A 1 -e '--use-tp-pp-dp' -e '^# Megatron-LM numbers'
nestc compile objectives.nest --job=nodes --emit=manifest | awk '/"rank"/ { gsub(/[^0-9 ]/, ""); if ($1 != $2) print } /"moved"/' | head -3
nestc compile objectives.nest --job=even 2>&1 | sed 's/then data .*/then PLAN/'
