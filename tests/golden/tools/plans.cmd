# Figures are those of the cost model, which other tests are about.
nestc compile plans.nest | sed -n '/^Plans/,/^$/p' | sed 's/ *[0-9.]* m*s  *[+-][0-9.]* %/ TIME/; s/needs .*/needs too much/; s/(best) .*/(best)/; s/counted .*/counted/'
nestc compile plans.nest --plan=ours | sed -n '/^Plan /,/^          ZeRO/p;/^Plans/p'
nestc compile plans.nest --plan=ours --emit=manifest | grep '"plan"'
nestc compile plans.nest --plan=tight 2>&1 | sed 's/: stage .*//' | head -1
nestc compile plans.nest --plan=deep 2>&1 | grep -v help:
nestc compile plans.nest --plan=odd
nestc explain plans.nest --plan=our
nestc eval plans.nest --plan=ours -e train.tensor -e train.recompute -e train.pipeline
nestc eval plans.nest --plan=our -e train.tensor
