/* Speculative attempts for slow tasks, judged by the successful tasks of their set. Internal to this room. */
#pragma once

#include "base/vec.h"
#include "sched/sched.h"

struct task_scheduler;

/* A running median: the lower half in a max-heap, the upper half in a min-heap. */
struct median {
        VEC(int64_t) low, high;
};

void median_add(struct median *m, int64_t value);
int64_t median_get(const struct median *m); /* 0 if empty */
void median_deinit(struct median *m);

struct slow_task {
        int32_t index;
        int32_t host; /* of the slow attempt; the other one goes elsewhere */
};

struct speculation {
        struct median durations;    /* of successful tasks, ns */
        int64_t records, run_ns;    /* of successful tasks */
        double *rates;              /* by task: records/ns of its running attempt; NULL: none reported */
        VEC(struct slow_task) slow; /* tasks that wait for a core for their speculative attempt */
};

struct speculation *speculation_new(void);
void speculation_free(struct speculation *s);

/* A task succeeded after @run_ns, having read @records. */
void speculation_succeeded(struct speculation *s, const struct speculation_config *config, int64_t run_ns,
                           int64_t records);

/* Progress of task @index. @n is the set's size. */
void speculation_progress(struct speculation *s, int n, int32_t index, int64_t records, int64_t run_ns);

/* The attempt of task @index has ended: its rate says nothing about the next attempt. */
void speculation_attempt_ended(struct speculation *s, int32_t index);

/* Finds slow tasks of every set, lists them and calls speculative_submitted. */
void speculation_check(struct task_scheduler *ts, int64_t now);
