# SPDX-License-Identifier: MIT
#
# results.tsv and published.tsv as Markdown tables.

BEGIN { FS = "\t" }

FNR == 1 { file++; next }

function key(    k) {
	k = $1 "\t" $2 "\t" $3
	if (!(k in seen)) {
		seen[k] = 1
		order[++count] = k
	}
	return k
}

file == 1 { k = key(); time[k, $4] = $5; plan[k, $4] = $7 }
file == 2 {
	k = $1 "\t" $2 "\t" $3
	published[k] = 1
	for (i = 4; i <= 10; i++)
		cell[k, i] = $i
}

function share(k, name,    best) {
	best = time[k, "nest"]
	if (time[k, name] == "-" || best == "-")
		return "no plan"
	return sprintf("%.1f %%", 100 * best / time[k, name])
}

function ratio(a, b) {
	return a == "-" || b == "-" || a == "" || !b ? "-" : sprintf("%.3f", a / b)
}

END {
	print "# Tables of the figure"
	print ""
	print "Written by `figure.sh` from `results.tsv` and `published.tsv`."
	print ""
	print "## Throughput by strategy, in per cent of the best plan's"
	print ""
	print "| cluster | model | devices | best iteration, s | manual | mcmc | phaze | alpa | best plan |"
	print "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
	for (i = 1; i <= count; i++) {
		k = order[i]
		split(k, part, "\t")
		printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", part[1], part[2], \
			part[3], time[k, "nest"], share(k, "manual"), share(k, "mcmc"), \
			share(k, "phaze"), share(k, "alpa"), plan[k, "nest"]
	}
	print ""
	print "## Time against that of NEST's plan, published and mended"
	print ""
	print "Published: times per batch that the published program reports (where it ended without an"
	print "answer, the exact optimum of its model). Mended: the same degrees with the best cut. The last"
	print "column is this program's own manual plan against its best, under its own model."
	print ""
	print "| cluster | model | devices | Manual, published | mended | MCMC, published | mended | Phaze, published | mended | manual, nestc |"
	print "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= count; i++) {
		k = order[i]
		if (!published[k])
			continue
		split(k, part, "\t")
		printf "| %s | %s | %s", part[1], part[2], part[3]
		for (j = 0; j < 3; j++)
			printf " | %s | %s", ratio(cell[k, 4 + j], cell[k, 7]), ratio(cell[k, 8 + j], cell[k, 7])
		printf " | %s |\n", ratio(time[k, "manual"], time[k, "nest"])
	}
}
