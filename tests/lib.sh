# SPDX-License-Identifier: MIT
#
# What every TAP script needs. Source it, call `ok STATUS NAME` for each test
# and `done_testing` at the end.

set -u
: "${NESTC:=$(pwd)/nestc}" "${top_srcdir:=$(pwd)}" "${AWK:=awk}"
export NESTC
[ -x "$NESTC" ] || {
	echo "Bail out! there is no program at $NESTC"
	exit 1
}
NO_COLOR=1 export NO_COLOR
unset NEST_PATH

tests=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

ok() {
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		echo "not ok $tests - $2"
	fi
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# Prints a file as TAP comments.
comment() {
	sed 's/^/# /' "$1"
}

# Compares what was expected with what came; shows the difference.
same() {
	if diff -u "$1" "$2" >"$scratch/diff"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		comment "$scratch/diff"
	fi
}

done_testing() {
	echo "1..$tests"
}
