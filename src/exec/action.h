/*
 * An action, as tasks and the scheduler's thread see it: what sink the rows of a partition go into, what a task
 * sends back, and how that is put together. Each kind of action (driver/action_*.c) embeds this first.
 */
#pragma once

#include "rdd/op.h"

struct page;

/* What one task sends back; which fields are used is the action's business. */
struct task_result {
        int64_t number;
        void *data;   /* owned */
        size_t bytes; /* that the result takes: counted against spark.driver.maxResultSize */
};

struct action {
        const char *name;     /* "count" */
        size_t sample_budget; /* not 0: text files give samples of as many bytes a partition */

        /* A sink, for one slot. */
        struct op *(*sink_new)(struct action *action, struct task_run *run);

        /*
         * The partition is complete: move what was computed from the sink into @result; 0, or negative after
         * task_run_fail. On the task's thread.
         */
        int (*result)(struct action *action, struct op *sink, struct task_result *result);

        /*
         * The result of output @output (an index into the job's partitions) is the one that counts. Takes
         * @result's data. 0, or negative with @error to fail the job. On the scheduler's thread.
         */
        int (*merge)(struct action *action, int output, struct task_result *result, struct fst_error *error);

        /* A result that does not count. NULL if `data` is never set. Any thread. */
        void (*discard)(struct action *action, struct task_result *result);

        /* The attempt failed: undo what it left outside (files). NULL if nothing. On the task's thread. */
        void (*failed)(struct action *action, struct task_run *run);
};
