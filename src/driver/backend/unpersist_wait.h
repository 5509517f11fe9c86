/*
 * Waits until every executor has removed an RDD (fst_unpersist_blocking). The waiting thread begins a wait and leaves
 * it to the scheduler's thread to ask executors. Each asked executor is expected, and has answered once it replied,
 * failed or was lost.
 *
 * Threads: a wait belongs to the thread that began it. Any thread may call the other functions.
 */
#pragma once

struct unpersist_waits;
struct unpersist_wait;

struct unpersist_waits *unpersist_waits_new(void);

/* Complete all waits before returning: no more answers will come. NULL is allowed. */
void unpersist_waits_free(struct unpersist_waits *waits);

/* Begin a wait that expects one answer, from the thread that asks executors. */
struct unpersist_wait *unpersist_wait_begin(struct unpersist_waits *waits);

/* Expect one more answer. Called before the last answer. */
void unpersist_wait_expect(struct unpersist_wait *wait);

/* Count one answer for @wait. The caller does not use it afterwards. */
void unpersist_wait_answered(void *wait);

/* Block until all expected answers have come. */
void unpersist_wait_end(struct unpersist_wait *wait);
