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
	printf '  %-32s' "$(basename "$spec" .nest)"
	"$top_builddir"/tests/bench/command_bench 11 \
		"$top_builddir"/nestc compile "$spec" --emit=manifest
done
for program in "$top_builddir"/tests/bench/*_bench; do
	case $program in
	*/command_bench | *'*'*) continue ;;
	esac
	echo
	echo "$(basename "$program")"
	"$program"
done
