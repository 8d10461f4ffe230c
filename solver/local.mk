# SPDX-License-Identifier: MIT

noinst_LIBRARIES += %D%/libsolver.a
%C%_libsolver_a_SOURCES = \
	%D%/bound.c \
	%D%/bound.h \
	%D%/chain.c \
	%D%/chain.h \
	%D%/deal.c \
	%D%/deal.h \
	%D%/dimension.h \
	%D%/even.c \
	%D%/even.h \
	%D%/facts.c \
	%D%/facts.h \
	%D%/failure.c \
	%D%/failure.h \
	%D%/feasible.c \
	%D%/feasible.h \
	%D%/feasible_check.h \
	%D%/feasible_network.c \
	%D%/incumbent.c \
	%D%/incumbent.h \
	%D%/layer.c \
	%D%/layer.h \
	%D%/most.h \
	%D%/network.c \
	%D%/network.h \
	%D%/partition.c \
	%D%/partition.h \
	%D%/partition_bound.c \
	%D%/partition_search.c \
	%D%/partition_seed.c \
	%D%/placement.c \
	%D%/placement.h \
	%D%/plan.h \
	%D%/predicate.c \
	%D%/predicate.h \
	%D%/price.c \
	%D%/price.h \
	%D%/problem.c \
	%D%/problem.h \
	%D%/published.c \
	%D%/published.h \
	%D%/range.c \
	%D%/range.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/search.c \
	%D%/search.h \
	%D%/share.c \
	%D%/share.h \
	%D%/solver.c \
	%D%/solver.h \
	%D%/space.c \
	%D%/space.h
