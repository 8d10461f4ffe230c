# SPDX-License-Identifier: MIT

dist_doc_DATA = README.md COPYING
EXTRA_DIST += \
	%D%/benchmarks.md \
	%D%/comparison.md \
	%D%/cost-model.md \
	%D%/explain.md \
	%D%/fidelity.md \
	%D%/hacking.md \
	%D%/language.md \
	%D%/profile.md \
	%D%/solver.md
