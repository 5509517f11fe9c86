/*
 * Two runs of an application side by side: totals, and stages matched by their names, with what became slower and why.
 *
 * A summary owns copies, so that the statuses of both runs need not be locked at the same time.
 */
#pragma once

#include "status/diagnosis.h"

enum run_total {
        RUN_WALL_MS,
        RUN_JOBS,
        RUN_STAGES, /* that ran */
        RUN_TASKS,  /* that succeeded */
        RUN_FAILED_TASKS,
        RUN_TASK_MS,
        RUN_CPU_MS,
        RUN_GC_MS,
        RUN_FETCH_WAIT_MS,
        RUN_INPUT,
        RUN_OUTPUT,
        RUN_SHUFFLE_READ,
        RUN_SHUFFLE_WRITE,
        RUN_SPILL, /* to disk */
        RUN_TOTALS
};

/* A stage attempt that ran. */
struct run_stage {
        int id, attempt, tasks;
        int64_t nth; /* among the stages of this name */
        char *name;  /* the call site */
        int64_t wall_ms;
        int64_t read_bytes, spilled_bytes;
        struct stage_diagnosis diagnosis; /* without its pointers */
        char *line;                       /* what limited it; "": unknown */
};

struct run_summary {
        char *id, *name; /* "": unknown */
        int64_t totals[RUN_TOTALS];
        VEC(struct run_stage) stages;
};

/* Summarizes a run. Reads single tasks of at most @max_rows tasks. */
void run_summary_init(struct run_summary *run, const struct status *s, int64_t now_ms, size_t max_rows);
void run_summary_deinit(struct run_summary *run);

/* Returns the name of a total: "task time". */
const char *run_total_name(enum run_total total);

/* Appends a total with its unit. */
void run_total_put(struct buf *out, enum run_total total, int64_t value);

/* Appends the change of a total from @a to @b: "+33 %", "-5 %", "=", and from 0 the value: "+512 B". */
void run_total_put_change(struct buf *out, enum run_total total, int64_t a, int64_t b);

/* A stage of both runs, or of one: the other is NULL. */
struct run_pair {
        const struct run_stage *a, *b;
};
typedef VEC(struct run_pair) run_pairs;

/* Returns pairs of stages: those whose duration changed most come first. They borrow from the summaries. */
void run_compare(const struct run_summary *a, const struct run_summary *b, run_pairs *out);

/* Appends the change of the duration, or "new" if the first run lacks the stage. */
void run_pair_put_change(const struct run_pair *pair, struct buf *out);

/* Appends in one line what changed in the second run: "read 2.0 GiB, not 1.0 GiB; …". Nothing if little changed. */
void run_pair_put_reason(const struct run_pair *pair, struct buf *out);
