#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Adds up the results of the last `make check`, one line.

find tests -name '*.trs' -exec cat {} + | awk '
	/^:test-result: (PASS|XFAIL)/ { passed++ }
	/^:test-result: (FAIL|XPASS|ERROR)/ { failed++ }
	/^:test-result: SKIP/ { skipped++ }
	END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
