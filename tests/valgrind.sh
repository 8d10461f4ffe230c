#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs whole compilations, refused specs and the unit tests under valgrind's
# memcheck, on all cores. Needs valgrind (installed where apt-get and root allow it).

set -u

# One command, for xargs below: its verdict is a file in the directory. A spec may be
# refused, and that is no memory error; a signal or a fault is.
if [ "${1-}" = one ]; then
	out=$2/$$
	valgrind -q --error-exitcode=99 --leak-check=full --track-fds=no --vgdb=no \
		$3 >"$out" 2>&1
	if [ $? -lt 64 ]; then
		mv "$out" "$out.passed"
	else
		mv "$out" "$out.failed"
		{ echo "valgrind: $3"; cat "$out.failed"; } >&2
	fi
	exit 0
fi

if ! command -v valgrind >/dev/null 2>&1; then
	[ "$(id -u)" = 0 ] && DEBIAN_FRONTEND=noninteractive apt-get install -q -y valgrind
fi
if ! command -v valgrind >/dev/null 2>&1; then
	echo "valgrind is not installed: skipped"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

# What takes longest first, so that no core is left with it at the end. A search need
# not be finished for its memory to be right.
commands() {
	for spec in examples/*/*.nest; do
		echo "./nestc compile $spec --emit=manifest --ranks=factors --gap=10%"
	done
	ls tests/golden/wrong/*.nest | xargs -n 8 echo ./nestc check
	ls tests/unit/*_test
}

results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT
commands | xargs -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -I COMMAND \
	sh "$0" one "$results" COMMAND
passed=$(find "$results" -name '*.passed' | wc -l)
failed=$(find "$results" -name '*.failed' | wc -l)
if [ $((passed + failed)) != "$(commands | wc -l)" ]; then
	echo "valgrind: a command has no verdict"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
