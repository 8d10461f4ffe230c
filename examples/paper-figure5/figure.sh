#!/bin/sh
# SPDX-License-Identifier: MIT
#
# figure.sh DIRECTORY: from results.tsv and published.tsv, writes the charts and the
# tables into a directory: h100.svg, tpuv4.svg, published.svg, tables.md.

set -eu
here=$(dirname "$0")
into=$1

# Throughput of every plan, the best of its problem being 100.
shares() {
	${AWK:-awk} -F '\t' -v cluster="$1" '
	NR == 1 || $1 != cluster { next }
	{ key = $2 "\t" $3; n++; of[n] = key; name[n] = $4; time[n] = $5 }
	$5 != "-" && (!(key in best) || $5 < best[key]) { best[key] = $5 }
	END {
		for (i = 1; i <= n; i++)
			printf "%s\t%s\t%s\n", of[i], name[i],
				time[i] == "-" ? "-" : sprintf("%.2f", 100 * best[of[i]] / time[i])
	}' "$here/results.tsv"
}

shares h100 | ${AWK:-awk} -f "$here/chart.awk" -v ceiling=100 -v step=20 \
	-v title="Throughput by strategy, H100 under a spine (best = 100)" -v unit="%" >"$into/h100.svg"
shares tpuv4 | ${AWK:-awk} -f "$here/chart.awk" -v ceiling=100 -v step=20 \
	-v title="Throughput by strategy, TPU v4 under a fat tree (best = 100)" -v unit="%" \
	>"$into/tpuv4.svg"

# NEST over Manual on the fat tree: as published, with the manual degrees cut as well as
# they can be, and in our model.
speedups() {
	${AWK:-awk} -F '\t' '
	FNR == 1 { file++; next }
	$1 != "tpuv4" { next }
	file == 1 && $4 == "nest" { nest[$2, $3] = $5 }
	file == 1 && $4 == "manual" { manual[$2, $3] = $5 }
	file == 2 {
		printf "%s\t%s\tas published\t%s\n", $2, $3, ratio($4, $7)
		printf "%s\t%s\tsame degrees, best cut\t%s\n", $2, $3, ratio($8, $7)
		printf "%s\t%s\tnestc: manual / nest\t%s\n", $2, $3, ratio(manual[$2, $3], nest[$2, $3])
	}
	function ratio(a, b) {
		return a == "-" || b == "-" || !b ? "-" : sprintf("%.3f", a / b)
	}' "$here/results.tsv" "$here/published.tsv"
}
speedups | ${AWK:-awk} -f "$here/chart.awk" -v ceiling=3 -v step=0.5 \
	-v title="NEST over Manual, TPU v4 under a fat tree" -v unit="times as fast" \
	>"$into/published.svg"

${AWK:-awk} -f "$here/tables.awk" "$here/results.tsv" "$here/published.tsv" >"$into/tables.md"
