/* SPDX-License-Identifier: MIT
 *
 * The best configurations of a job, in order: each is searched for with all those
 * before it excluded, so that each is proved like the first.
 */
#ifndef NEST_COMPILER_RUNNERS_UP_H
#define NEST_COMPILER_RUNNERS_UP_H

#include <jansson.h>

#include "compiler/pipeline.h"
#include "lang/base/text.h"

struct compilation;

struct runner {
	struct plan plan;		/* the best one of its degrees and policies; ZeRO of
					 * one replica is all the same */
	uint32_t round;			/* of the searches, in which it was found */
	/* No configuration that is not listed before it, and no other plan of its
	 * own, is below this; plan.certificate.value where it is proved. */
	double lower_bound;
};

struct runners_up {
	const struct ir *ir;
	const struct problem *problem;
	struct runner *at;		/* the best first */
	uint32_t count, wanted;
	bool exhausted;			/* there are no others */
	bool by_time;			/* the job minimises time, so `value` is one */
};

/* Finds `wanted` configurations; the pipeline holds the best plan. STATUS_FAULT,
 * complained of, if one does not pass the checkers. A time limit is for all but the
 * first together. */
enum status runners_up_find(const struct cli *cli, struct compilation *compilation,
			    const struct pipeline *pipeline, uint32_t wanted,
			    struct runners_up *runners);

/* Puts them in order by value and settles their bounds; apart for tests. */
void runners_up_sort(struct runner *runner, uint32_t count);

void runners_up_print(const struct runners_up *runners,
		      struct compilation *compilation, struct text *out);
/* The caller owns it. */
json_t *runners_up_json(const struct runners_up *runners);

#endif
