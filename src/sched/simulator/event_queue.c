/*
 * A heap with four children a node. With a hundred thousand busy cores it is nine levels deep, and the four children
 * take two or three cache lines. The order wraps after 2^32 events and is compared as a difference, because no two
 * events of the same time are that far apart.
 */
#include "sched/simulator/event_queue.h"

static bool event_queue_before(const struct event *a, const struct event *b)
{
        if (a->at != b->at)
                return a->at < b->at;
        return (int32_t)(a->order - b->order) < 0;
}

void event_queue_deinit(struct event_queue *q)
{
        vec_deinit(&q->heap);
}

void event_queue_push(struct event_queue *q, struct event event)
{
        event.order = q->next_order++;
        vec_push(&q->heap, event);
        size_t hole = q->heap.len - 1;

        while (hole > 0 && event_queue_before(&event, &q->heap.data[(hole - 1) / 4])) {
                q->heap.data[hole] = q->heap.data[(hole - 1) / 4];
                hole = (hole - 1) / 4;
        }
        q->heap.data[hole] = event;
}

struct event event_queue_pop(struct event_queue *q)
{
        struct event *heap = q->heap.data, first = heap[0], last = heap[--q->heap.len];
        size_t n = q->heap.len, hole = 0;

        for (size_t child; (child = hole * 4 + 1) < n; hole = child) {
                size_t end = MIN(child + 4, n);

                for (size_t other = child + 1; other < end; other++)
                        if (event_queue_before(&heap[other], &heap[child]))
                                child = other;
                if (!event_queue_before(&heap[child], &last))
                        break;
                heap[hole] = heap[child];
        }
        if (n > 0)
                heap[hole] = last;
        return first;
}
