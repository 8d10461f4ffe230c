/* SPDX-License-Identifier: MIT
 *
 * One mutex guards the states of all batches; the other fields of a batch belong to
 * whom its state says.
 */
#include "solver/ahead.h"

#include <pthread.h>
#include <stdatomic.h>

/* Nodes in a batch, and batches for each thread. Most nodes are opened in
 * microseconds; one that is seeded or cut takes long and is a batch of its own. */
#define BATCH_NODES 16
#define BATCHES_EACH 8

enum batch_state {
	BATCH_FREE,
	BATCH_FILLING,			/* the search's, */
	BATCH_DONE,			/* likewise, with what came out */
	BATCH_WAITING,			/* for a thread */
	BATCH_RUNNING,			/* the thread's */
};

struct batch {
	enum batch_state state;
	uint64_t number;		/* the least waiting goes first */
	atomic_bool is_void;		/* the incumbent has changed since it began */
	uint32_t nodes, left;		/* left: not yet given back */
	struct incumbent incumbent;
	uint64_t effort;
	struct arena arena;		/* of what comes out */
	struct arena_mark empty;	/* its first block is kept */
	struct node node[BATCH_NODES];
	const struct placement_set *set[BATCH_NODES];
	struct expansion expansion[BATCH_NODES];
};

struct worker {
	struct ahead *ahead;
	struct expander expander;
	pthread_t thread;
};

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t work;		/* a batch waits, or the end has come */
	pthread_cond_t done;		/* a batch is done */
	bool ended;
	struct families *families;
	uint32_t wanted, started;	/* threads */
	struct worker *worker;
	uint32_t batches;
	struct batch *batch;
	struct batch *filling;		/* NULL: none */
	uint64_t sent;
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
	ahead->batches = BATCHES_EACH * threads + 2;
	ahead->batch = ARENA_ARRAY(arena, struct batch, ahead->batches);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->done, NULL);
	for (uint32_t i = 0; i < ahead->batches; i++) {
		struct batch *batch = &ahead->batch[i];

		arena_init(&batch->arena);
		arena_alloc(&batch->arena, 1);
		batch->empty = arena_mark(&batch->arena);
	}
	return ahead;
}

/* Of the waiting batches the one that was sent first, or last. */
static struct batch *waiting(struct ahead *ahead, bool last)
{
	struct batch *found = NULL;

	for (uint32_t i = 0; i < ahead->batches; i++) {
		struct batch *batch = &ahead->batch[i];

		if (batch->state == BATCH_WAITING &&
		    (!found || (batch->number > found->number) == last))
			found = batch;
	}
	return found;
}

/* Opens all nodes of a waiting batch, by any thread. The lock is held before and
 * after. */
static void work_on(struct ahead *ahead, struct batch *batch,
		    struct expander *expander)
{
	batch->state = BATCH_RUNNING;
	pthread_mutex_unlock(&ahead->lock);
	arena_rewind(&batch->arena, batch->empty);
	for (uint32_t i = 0; i < batch->nodes && !atomic_load(&batch->is_void);
	     i++)
		expand(expander, &batch->incumbent, &batch->node[i],
		       batch->set[i], batch->effort, &batch->arena,
		       &batch->expansion[i]);
	pthread_mutex_lock(&ahead->lock);
	batch->state = batch->left ? BATCH_DONE : BATCH_FREE;
	pthread_cond_signal(&ahead->done);
}

static void *run(void *closure)
{
	struct worker *worker = closure;
	struct ahead *ahead = worker->ahead;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->ended) {
		struct batch *batch = waiting(ahead, false);

		if (batch)
			work_on(ahead, batch, &worker->expander);
		else
			pthread_cond_wait(&ahead->work, &ahead->lock);
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
	for (uint32_t i = 0; i < ahead->batches; i++)
		arena_release(&ahead->batch[i].arena);
	pthread_cond_destroy(&ahead->done);
	pthread_cond_destroy(&ahead->work);
	pthread_mutex_destroy(&ahead->lock);
}

static struct batch *free_batch(struct ahead *ahead)
{
	struct batch *found = NULL;

	start(ahead);
	if (!ahead->started)
		return NULL;
	pthread_mutex_lock(&ahead->lock);
	for (uint32_t i = 0; i < ahead->batches && !found; i++)
		if (ahead->batch[i].state == BATCH_FREE)
			found = &ahead->batch[i];
	if (found)
		found->state = BATCH_FILLING;
	pthread_mutex_unlock(&ahead->lock);
	return found;
}

static bool is_long(const struct node *node)
{
	return node->kind >= NODE_BOUNDED;
}

uint32_t ahead_put(struct ahead *ahead, const struct node *node,
		   const struct placement_set *set)
{
	struct batch *batch = ahead->filling;
	uint32_t at;

	if (!batch) {
		batch = ahead->filling = free_batch(ahead);
		if (!batch)
			return TICKET_NONE;
		batch->nodes = batch->left = 0;
	}
	at = batch->nodes;
	if (at == BATCH_NODES || (at && (is_long(node) || is_long(batch->node))))
		return TICKET_NONE;
	batch->node[at] = *node;
	batch->set[at] = set;
	batch->nodes = batch->left = at + 1;
	return (uint32_t)(batch - ahead->batch) * BATCH_NODES + at;
}

bool ahead_send(struct ahead *ahead, const struct incumbent *incumbent,
		uint64_t effort)
{
	struct batch *batch = ahead->filling;

	if (!batch)
		return false;
	ahead->filling = NULL;
	batch->number = ahead->sent++;
	atomic_store(&batch->is_void, false);
	batch->incumbent = *incumbent;
	batch->effort = effort;
	pthread_mutex_lock(&ahead->lock);
	batch->state = BATCH_WAITING;
	pthread_cond_signal(&ahead->work);
	pthread_mutex_unlock(&ahead->lock);
	return true;
}

static struct batch *batch_of(struct ahead *ahead, uint32_t ticket)
{
	return &ahead->batch[ticket / BATCH_NODES];
}

struct expansion *ahead_take(struct ahead *ahead, uint32_t ticket,
			     struct expander *expander)
{
	struct batch *batch = batch_of(ahead, ticket);
	bool good;

	pthread_mutex_lock(&ahead->lock);
	/* What was sent last is least likely to be begun by others. */
	while (batch->state != BATCH_DONE && !atomic_load(&batch->is_void)) {
		struct batch *next = batch->state == BATCH_WAITING ?
			batch : waiting(ahead, true);

		if (next)
			work_on(ahead, next, expander);
		else
			pthread_cond_wait(&ahead->done, &ahead->lock);
	}
	good = batch->state == BATCH_DONE && !atomic_load(&batch->is_void);
	pthread_mutex_unlock(&ahead->lock);
	return good ? &batch->expansion[ticket % BATCH_NODES] : NULL;
}

void ahead_give_back(struct ahead *ahead, uint32_t ticket)
{
	struct batch *batch = batch_of(ahead, ticket);

	pthread_mutex_lock(&ahead->lock);
	batch->left--;
	if (!batch->left && batch->state != BATCH_RUNNING)
		batch->state = BATCH_FREE;
	pthread_mutex_unlock(&ahead->lock);
}

void ahead_renew(struct ahead *ahead, const struct incumbent *incumbent)
{
	pthread_mutex_lock(&ahead->lock);
	for (uint32_t i = 0; i < ahead->batches; i++) {
		struct batch *batch = &ahead->batch[i];

		if (batch->state == BATCH_WAITING)
			batch->incumbent = *incumbent;
		if (batch->state == BATCH_RUNNING || batch->state == BATCH_DONE)
			atomic_store(&batch->is_void, true);
	}
	pthread_mutex_unlock(&ahead->lock);
}
