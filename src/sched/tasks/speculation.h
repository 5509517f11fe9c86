/*
 * Second attempts for slow tasks: what of a task set is slow, by the tasks of it that have succeeded. For this room
 * only.
 */
#pragma once

#include "base/vec.h"
#include "sched/sched.h"

struct task_set;
struct task_scheduler;

/* A stream's median: the lower half in a heap with its largest on top, the upper with its smallest. */
struct median {
        VEC(int64_t) low, high;
};

void median_add(struct median *m, int64_t value);
int64_t median_get(const struct median *m); /* 0 of nothing */
void median_deinit(struct median *m);

struct slow_task {
        int32_t index;
        int32_t host; /* where the slow attempt is: the other goes elsewhere */
};

struct speculation {
        struct median durations;    /* of successful tasks, ns */
        int64_t records, run_ns;    /* of successful tasks */
        double *rates;              /* by task: records/ns of its running attempt; NULL: nobody told any */
        VEC(struct slow_task) slow; /* that wait for a core for their second attempt */
};

struct speculation *speculation_new(void);
void speculation_free(struct speculation *s);

/* A task succeeded after @run_ns, having read @records. */
void speculation_succeeded(struct speculation *s, const struct speculation_config *config, int64_t run_ns,
                           int64_t records);

/* Task @index reads so fast. @n is the set's. */
void speculation_progress(struct speculation *s, int n, int32_t index, int64_t records, int64_t run_ns);

/* Look for slow tasks of every set; they are listed, and speculative_submitted is called. */
void speculation_check(struct task_scheduler *ts, int64_t now);
