/* One pass over the tasks of a stage, for its diagnosis. */
#pragma once

#include "status/diagnosis.h"

#define MAX_SCAN_MS ((int64_t)1 << 40) /* sums of times do not overflow */

struct task_scan {
        int64_t end_ms;                    /* the caller sets it: the end of the time line */
        int64_t begin_ms;                  /* the first launch */
        int64_t last_start_ms;             /* of a first attempt */
        int64_t busy_ms, busy_starting_ms; /* time of tasks: all; until the last start */
        int64_t result_ms;                 /* fetching large results */
        int64_t failed_ms, n_failed, n_seen;
        struct diagnosis_task longest[DIAGNOSIS_LONG_TASKS];
        size_t n_longest;
        double slots; /* the most cores that were busy in one slice of the time, at least 1 */
};

/* Reads the tasks. Returns false if none of them lies in a time line of less than MAX_SCAN_MS. */
bool task_scan_run(struct task_scan *scan, const struct task_columns *t);
