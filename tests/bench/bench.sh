#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make bench: what the whole command takes on the examples, and what the
# solver takes against the size of the cluster. Medians of 11 runs; figures,
# never a verdict.

set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"

echo "whole command, manifest with every rank (median of 11 runs)"
for spec in "$top_srcdir"/examples/*/*.nest; do
	printf '  %-32s' "$(basename "$(dirname "$spec")")"
	"$top_builddir"/tests/bench/command_bench 11 \
		"$top_builddir"/nestc compile "$spec" --emit=manifest
done
echo
echo "a generated spec of 100,000 lines (median of 11 runs)"
large=$(mktemp) && trap 'rm -f "$large"' EXIT
${AWK:-awk} -v lines=100000 -f "$top_srcdir/tests/large_spec.awk" >"$large"
for command in check "fmt --check"; do
	printf '  %-32s' "$command"
	# shellcheck disable=SC2086
	"$top_builddir"/tests/bench/command_bench 11 \
		"$top_builddir"/nestc $command "$large"
done
for program in "$top_builddir"/tests/bench/*_bench; do
	case $program in
	*/command_bench | *'*'*) continue ;;
	esac
	echo
	echo "$(basename "$program")"
	"$program"
done
