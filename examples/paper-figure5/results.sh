#!/bin/sh
# SPDX-License-Identifier: MIT
#
# results.sh [RACKS..]: compares the strategies on every model and cluster of the
# figure and prints a table, a row a plan. Racks have 32 devices; without
# arguments those of the figure: 2, 4, 8, 16 and 32.
# NESTC names the program, AWK the awk.

set -eu
spec=$(dirname "$0")/figure5.nest
[ $# -gt 0 ] || set -- 2 4 8 16 32

printf 'cluster\tmodel\tdevices\tstrategy\ttime_s\tmemory_GiB\tplan\n'
for cluster in h100 tpuv4; do
	for model in bert gpt3 llama2 llama3 mixtral; do
		for racks in "$@"; do
			"${NESTC:-nestc}" compare "$spec" --json -D "name=\"$model\"" \
				-D "cluster=\"$cluster\"" -D "racks=$racks" |
				${AWK:-awk} -v row="$cluster	$model	$((racks * 32))" '
				function field(line) {
					sub(/^[^:]*: /, "", line)
					sub(/,?$/, "", line)
					gsub(/"/, "", line)
					return line
				}
				/"name":/ { name = field($0) }
				/"about":/ { about = field($0) }
				/"found": false/ { found = 0 }
				/"found": true/ { found = 1 }
				/"kind":/ && !found {
					printf "%s\t%s\t-\t-\t%s\n", row, name, about
				}
				/"time":/ { time = field($0) }
				/"memory":/ {
					printf "%s\t%s\t%.4g\t%.1f\t%s\n", row, name, time,
						field($0) / 1073741824, about
				}'
		done
	done
done
