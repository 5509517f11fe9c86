/*
 * Who waits until every executor has forgotten an RDD (fst_unpersist_blocking). The waiting thread begins a wait and
 * leaves the scheduler's thread to ask executors; each of these that is asked is expected, and has answered once it
 * answered, failed, or was lost.
 *
 * Threads: a wait belongs to the thread that began it; the rest may come from any.
 */
#pragma once

#include <stdbool.h>

struct unpersist_waits;
struct unpersist_wait;

struct unpersist_waits *unpersist_waits_new(void);

/* Nobody answers any more: whoever waits goes on, before this returns. NULL is allowed. */
void unpersist_waits_free(struct unpersist_waits *waits);

/* With one answer expected: that of who asks the others. */
struct unpersist_wait *unpersist_wait_begin(struct unpersist_waits *waits);

/* One more. Before the last one has answered. */
void unpersist_wait_expect(struct unpersist_wait *wait);

/* @wait, once for each that is expected; not used by its caller afterwards. */
void unpersist_wait_answered(void *wait);

/* Until all have answered. */
void unpersist_wait_end(struct unpersist_wait *wait);
