/* SPDX-License-Identifier: MIT
 *
 * The order of nodes, and the heap.
 */
#include "solver/node.h"

static int compare_number(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_choice(const struct choice *a, const struct choice *b)
{
	int order = compare_number(a->shape, b->shape);

	if (!order)
		order = compare_number(a->data, b->data);
	if (!order)
		order = compare_number(a->pipeline, b->pipeline);
	if (!order)
		order = compare_number(a->virtual_stages, b->virtual_stages);
	if (!order)
		order = compare_number(a->zero, b->zero);
	if (!order)
		order = compare_number(a->shard_level, b->shard_level);
	if (!order)
		order = compare_number(a->recompute, b->recompute);
	if (!order)
		order = compare_number(a->recompute_layers, b->recompute_layers);
	return order ? order : compare_number(a->schedule, b->schedule);
}

bool node_before(const struct node *a, const struct node *b)
{
	int order;

	for (int i = 0; i < 2; i++)
		if (a->objective[i] != b->objective[i])
			return a->objective[i] < b->objective[i];
	if (a->kind != b->kind)
		return a->kind > b->kind;
	order = compare_choice(&a->choice, &b->choice);
	return order ? order < 0 : a->placed < b->placed;
}

void queue_init(struct queue *queue)
{
	*queue = (struct queue){ .count = 0 };
	arena_init(&queue->arena);
}

void queue_release(struct queue *queue)
{
	arena_release(&queue->arena);
}

struct node *queue_at(const struct queue *queue, size_t i)
{
	return &queue->block.at[i / QUEUE_BLOCK][i % QUEUE_BLOCK];
}

/* Hands a node up from a free place, past its parents that come after it. */
void queue_push(struct queue *queue, const struct node *node)
{
	size_t at = queue->count++;

	if (at / QUEUE_BLOCK == queue->block.count)
		VEC_PUSH(&queue->block, &queue->arena,
			 ARENA_ARRAY(&queue->arena, struct node, QUEUE_BLOCK));
	while (at) {
		size_t parent = (at - 1) / 2;

		if (!node_before(node, queue_at(queue, parent)))
			break;
		*queue_at(queue, at) = *queue_at(queue, parent);
		at = parent;
	}
	*queue_at(queue, at) = *node;
}

struct node queue_pop(struct queue *queue)
{
	struct node first = *queue_at(queue, 0);
	struct node last = *queue_at(queue, --queue->count);
	size_t count = queue->count, at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    node_before(queue_at(queue, child + 1),
				queue_at(queue, child)))
			child++;
		if (!node_before(queue_at(queue, child), &last))
			break;
		*queue_at(queue, at) = *queue_at(queue, child);
		at = child;
	}
	*queue_at(queue, at) = last;
	return first;
}
