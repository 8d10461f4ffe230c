#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the unit tests and a whole compilation under valgrind's memcheck. Needs
# valgrind (installed where apt-get and root allow it).

set -u
passed=0 failed=0 skipped=0

if ! command -v valgrind >/dev/null 2>&1; then
	[ "$(id -u)" = 0 ] && DEBIAN_FRONTEND=noninteractive apt-get install -q -y valgrind
fi
if ! command -v valgrind >/dev/null 2>&1; then
	echo "valgrind is not installed: skipped"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

checked() {
	if valgrind -q --error-exitcode=99 --leak-check=full --track-fds=no \
		"$@" >valgrind.out 2>&1; then
		passed=$((passed + 1))
	elif [ $? = 99 ]; then
		failed=$((failed + 1))
		echo "valgrind: $*"
		cat valgrind.out
	else
		passed=$((passed + 1))	# a refused spec is no memory error
	fi
}

for program in tests/unit/*_test; do
	checked "$program"
done
for spec in examples/*/*.nest; do
	checked ./nestc compile "$spec" --emit=manifest --ranks=factors
done
for spec in tests/golden/wrong/*.nest; do
	checked ./nestc check "$spec"
done
rm -f valgrind.out
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
