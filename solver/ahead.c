/* SPDX-License-Identifier: MIT
 *
 * One mutex guards the states of all jobs; a job's other fields belong to whom its
 * state says.
 */
#include "solver/ahead.h"

#include <pthread.h>
#include <stdbool.h>

/* Jobs for each thread: enough that none waits for the search. */
#define JOBS_EACH 6

enum job_state {
	JOB_FREE,
	JOB_HELD,			/* by the search, */
	JOB_DONE,			/* likewise, with what came out */
	JOB_WAITING,			/* for a thread */
	JOB_RUNNING,			/* the thread's */
};

struct job {
	enum job_state state;
	uint64_t number;		/* the least waiting goes first */
	bool is_void;			/* the incumbent has changed since it began */
	bool given_back;		/* while it ran */
	struct incumbent incumbent;
	struct node node;
	const struct placement_set *set;
	uint64_t effort;
	struct expansion expansion;
};

struct worker {
	struct ahead *ahead;
	struct expander expander;
	pthread_t thread;
};

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t work;		/* a job waits, or the end has come */
	pthread_cond_t done;		/* a job is done */
	bool ended;
	struct families *families;
	uint32_t wanted, started;	/* threads */
	struct worker *worker;
	uint32_t jobs;
	struct job *job;
	uint64_t given;
};

struct ahead *ahead_new(struct families *families, uint32_t threads,
			struct arena *arena)
{
	struct ahead *ahead;

	if (!threads)
		return NULL;
	ahead = ARENA_NEW(arena, struct ahead);
	ahead->families = families;
	ahead->wanted = threads;
	ahead->worker = ARENA_ARRAY(arena, struct worker, threads);
	ahead->jobs = JOBS_EACH * threads;
	ahead->job = ARENA_ARRAY(arena, struct job, ahead->jobs);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->done, NULL);
	for (uint32_t i = 0; i < ahead->jobs; i++)
		expansion_init(&ahead->job[i].expansion);
	return ahead;
}

/* The waiting job that was given first. */
static struct job *first_waiting(struct ahead *ahead)
{
	struct job *first = NULL;

	for (uint32_t i = 0; i < ahead->jobs; i++) {
		struct job *job = &ahead->job[i];

		if (job->state == JOB_WAITING &&
		    (!first || job->number < first->number))
			first = job;
	}
	return first;
}

static struct job *wait_for_work(struct ahead *ahead)
{
	struct job *job;

	while (!ahead->ended && !(job = first_waiting(ahead)))
		pthread_cond_wait(&ahead->work, &ahead->lock);
	return ahead->ended ? NULL : job;
}

static void *run(void *closure)
{
	struct worker *worker = closure;
	struct ahead *ahead = worker->ahead;
	struct job *job;

	pthread_mutex_lock(&ahead->lock);
	while ((job = wait_for_work(ahead))) {
		job->state = JOB_RUNNING;
		pthread_mutex_unlock(&ahead->lock);
		expand(&worker->expander, &job->incumbent, &job->node, job->set,
		       job->effort, &job->expansion);
		pthread_mutex_lock(&ahead->lock);
		job->state = job->given_back ? JOB_FREE : JOB_DONE;
		pthread_cond_signal(&ahead->done);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* As many of the threads wanted as the system gives. */
static void start(struct ahead *ahead)
{
	while (ahead->started < ahead->wanted) {
		struct worker *worker = &ahead->worker[ahead->started];

		worker->ahead = ahead;
		expander_init(&worker->expander, ahead->families);
		if (pthread_create(&worker->thread, NULL, run, worker)) {
			expander_release(&worker->expander);
			ahead->wanted = ahead->started;
			return;
		}
		ahead->started++;
	}
}

void ahead_release(struct ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = true;
	pthread_cond_broadcast(&ahead->work);
	pthread_mutex_unlock(&ahead->lock);
	for (uint32_t i = 0; i < ahead->started; i++) {
		pthread_join(ahead->worker[i].thread, NULL);
		expander_release(&ahead->worker[i].expander);
	}
	for (uint32_t i = 0; i < ahead->jobs; i++)
		expansion_release(&ahead->job[i].expansion);
	pthread_cond_destroy(&ahead->done);
	pthread_cond_destroy(&ahead->work);
	pthread_mutex_destroy(&ahead->lock);
}

uint32_t ahead_job(struct ahead *ahead)
{
	uint32_t found = JOB_NONE;

	start(ahead);
	if (!ahead->started)
		return JOB_NONE;
	pthread_mutex_lock(&ahead->lock);
	for (uint32_t i = 0; i < ahead->jobs && found == JOB_NONE; i++)
		if (ahead->job[i].state == JOB_FREE)
			found = i;
	if (found != JOB_NONE)
		ahead->job[found].state = JOB_HELD;
	pthread_mutex_unlock(&ahead->lock);
	return found;
}

void ahead_give(struct ahead *ahead, uint32_t number,
		const struct incumbent *incumbent, const struct node *node,
		const struct placement_set *set, uint64_t effort)
{
	struct job *job = &ahead->job[number];

	job->number = ahead->given++;
	job->is_void = job->given_back = false;
	job->incumbent = *incumbent;
	job->node = *node;
	job->set = set;
	job->effort = effort;
	pthread_mutex_lock(&ahead->lock);
	job->state = JOB_WAITING;
	pthread_cond_signal(&ahead->work);
	pthread_mutex_unlock(&ahead->lock);
}

struct expansion *ahead_take(struct ahead *ahead, uint32_t number)
{
	struct job *job = &ahead->job[number];
	bool good;

	pthread_mutex_lock(&ahead->lock);
	if (job->state == JOB_WAITING)
		job->state = JOB_HELD;
	while (job->state == JOB_RUNNING && !job->is_void)
		pthread_cond_wait(&ahead->done, &ahead->lock);
	good = job->state == JOB_DONE && !job->is_void;
	pthread_mutex_unlock(&ahead->lock);
	return good ? &job->expansion : NULL;
}

void ahead_give_back(struct ahead *ahead, uint32_t number)
{
	struct job *job = &ahead->job[number];

	pthread_mutex_lock(&ahead->lock);
	if (job->state == JOB_RUNNING)
		job->given_back = true;
	else
		job->state = JOB_FREE;
	pthread_mutex_unlock(&ahead->lock);
}

void ahead_renew(struct ahead *ahead, const struct incumbent *incumbent)
{
	pthread_mutex_lock(&ahead->lock);
	for (uint32_t i = 0; i < ahead->jobs; i++) {
		struct job *job = &ahead->job[i];

		if (job->state == JOB_WAITING)
			job->incumbent = *incumbent;
		job->is_void |= job->state == JOB_RUNNING ||
				job->state == JOB_DONE;
	}
	pthread_mutex_unlock(&ahead->lock);
}
