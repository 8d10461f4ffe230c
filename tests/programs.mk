# SPDX-License-Identifier: MIT
#
# The cmocka and bench programs: one block each.

bench_programs =
