/* SPDX-License-Identifier: MIT
 *
 * "searched 12,345 of 69,834; best 13.5 s, none below 13.3 s, gap 1.2 %".
 */
#include "compiler/progress.h"

#include <math.h>
#include <stdio.h>

#include "compiler/clock.h"
#include "compiler/describe.h"

#define PATIENCE_S 0.5
#define INTERVAL_S 0.1

/* Back to the first column; erase to the end of the line. */
#define WIPE "\r\033[K"

void progress_line(const struct ir_job *job, const struct solve_progress *state,
		   struct text *out)
{
	text_append(out, "searched ");
	describe_count(state->settled, out);
	text_append(out, " of ");
	describe_count(state->configurations, out);
	if (state->found) {
		text_append(out, "; best ");
		describe_objective(job, state->value, out);
	} else {
		text_append(out, "; no plan yet");
	}
	text_append(out, ", none below ");
	describe_objective(job, state->lower_bound, out);
	if (state->found && state->value != 0)
		text_printf(out, ", gap %.2f %%",
			    100 * fmax(0, (state->value - state->lower_bound) /
						  fabs(state->value)));
}

static void show(void *closure, const struct solve_progress *state)
{
	struct progress *progress = closure;
	struct arena_mark mark;
	struct text line;
	double now = clock_seconds();

	if (now - progress->begun_s < progress->patience_s ||
	    now - progress->shown_s < INTERVAL_S)
		return;
	mark = arena_mark(&progress->arena);
	text_init(&line, &progress->arena);
	progress_line(progress->job, state, &line);
	fprintf(stderr, WIPE "%s", line.at);
	fflush(stderr);
	progress->shown_s = now;
	arena_rewind(&progress->arena, mark);
}

void progress_begin(struct progress *progress, const struct ir_job *job,
		    bool wanted, bool always, struct solve_limits *limits)
{
	*progress = (struct progress){
		.job = job,
		.begun_s = clock_seconds(),
		.patience_s = always ? 0 : PATIENCE_S,
	};
	arena_init(&progress->arena);
	if (!wanted)
		return;
	limits->progress = show;
	limits->closure = progress;
}

void progress_end(struct progress *progress)
{
	if (progress->shown_s > 0)
		fputs(WIPE, stderr);
	arena_release(&progress->arena);
}
