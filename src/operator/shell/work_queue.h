/*
 * The keys of objects that need a look, fair between namespaces and limited in rate. Pure.
 *
 *      work_queue_add(q, SCHEDULES, "jobs", "nightly");                 at once
 *      work_queue_add_at(q, SCHEDULES, "jobs", "nightly", deadline);    later; the earliest time wins
 *      work_queue_add_failed(q, SCHEDULES, "jobs", "nightly", now);     after a pause that doubles
 *      while (work_queue_next(q, now, &item))
 *              reconcile(item.kind, item.namespace, item.name);
 *      start_timer(work_queue_deadline(q, now));
 *
 * A key is in the queue once, however often it was added. Namespaces take turns; within a namespace the longest waiting
 * key comes first. A namespace with thousands of keys delays the only key of another one by one look.
 *
 * The bucket limits how many keys come out: `burst` at once, then `rate` a second. Keys keep their order meanwhile.
 *
 * Times are ns of a monotonic clock. One thread.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

struct work_queue;

/* Zero selects the default named behind it. */
struct work_queue_options {
        int64_t first_pause; /* 5 ms: after the first failure of a key */
        int64_t most_pause;  /* 1000 s */
        int rate;            /* looks a second; unlimited */
        int burst;           /* 500 */
};

struct work_item {
        int kind;
        const char *namespace, *name; /* borrowed until the next call of a function of the queue */
};

struct work_queue *work_queue_new(const struct work_queue_options *options);
void work_queue_free(struct work_queue *q); /* NULL is allowed */

void work_queue_add(struct work_queue *q, int kind, const char *namespace, const char *name);
void work_queue_add_at(struct work_queue *q, int kind, const char *namespace, const char *name, int64_t when);
void work_queue_add_failed(struct work_queue *q, int kind, const char *namespace, const char *name, int64_t now);

/* The last look succeeded: the next failure has the first pause again. */
void work_queue_forget_failures(struct work_queue *q, int kind, const char *namespace, const char *name);

/* Removes the key: its object is gone. */
void work_queue_remove(struct work_queue *q, int kind, const char *namespace, const char *name);

/* Takes the next key out of the queue. Returns false if none is due, or the bucket is empty. */
bool work_queue_next(struct work_queue *q, int64_t now, struct work_item *out);

/* When work_queue_next may return a key: at most @now if it does now, or INT64_MAX. */
int64_t work_queue_deadline(const struct work_queue *q, int64_t now);

size_t work_queue_depth(const struct work_queue *q); /* keys that are due */
