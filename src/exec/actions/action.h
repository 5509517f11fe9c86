/*
 * An action, as the tasks of its job see it: what sink the rows of a partition go into, what a task sends back, and
 * how that is put together. One struct is on the driver, one (made of its encoded form, exec/task/stage_wire.h) on each
 * executor; in local mode they are the same.
 */
#pragma once

#include "rdd/pipeline/op.h"

struct action;
struct buf;
struct exec_env;
struct rdd_wire_reader;
struct rdd_wire_writer;
struct Firesteel__Action;

/* What one task sends back; which fields are used is the action's business. */
struct task_result {
        int64_t number;
        void *data;   /* owned */
        size_t bytes; /* that the result takes: counted against spark.driver.maxResultSize */
};

/* A kind of action. Each is in exec/action_NAME.c, all are in exec/actions/action_kinds.h. */
struct action_class {
        const char *name; /* "count": also how it travels */

        /* A sink, for one slot. @env lives as long as the slot. */
        struct op *(*sink_new)(struct action *action, struct task_run *run, const struct exec_env *env);

        /*
         * The partition is complete: move what was computed from the sink into @result; 0, or negative after
         * task_run_fail. On the task's thread.
         */
        int (*result)(struct action *action, struct op *sink, struct task_result *result);

        /* A result that does not count. NULL if `data` is never set. Any thread. */
        void (*discard)(struct action *action, struct task_result *result);

        /* The attempt failed: undo what it left outside (files). NULL if nothing. On the task's thread. */
        void (*failed)(struct action *action, struct task_run *run);

        /*
         * To and from other processes. encode (on the driver) says in @message what only this kind has; decode (on an
         * executor) makes *@out of it, its common part filled, in the reader's memory: `release` frees what is not in
         * there, NULL if nothing. 0, or negative with @error.
         */
        int (*encode)(const struct action *action, struct rdd_wire_writer *writer, struct Firesteel__Action *message,
                      struct fst_error *error);
        int (*decode)(struct rdd_wire_reader *reader, const struct Firesteel__Action *message, fst_type type,
                      struct action **out, struct fst_error *error);
        void (*release)(struct action *action);

        /*
         * A task's result to bytes (on the executor), and back (on the driver, which trusts no byte of it: -EBADMSG).
         * Called through task_result_encode and task_result_decode. NULL: there is no result.
         */
        int (*encode_result)(const struct action *action, const struct task_result *result, struct buf *out,
                             struct fst_error *error);
        int (*decode_result)(const struct action *action, const unsigned char *data, size_t len,
                             struct task_result *result, struct fst_error *error);
};

struct action {
        const struct action_class *class;
        fst_type type;        /* of the rows that it takes */
        size_t sample_budget; /* not 0: text files and binary records give samples of as many bytes a partition */

        /*
         * On the driver alone (driver/action_*.c embed this): the result of output @output (an index into the job's
         * partitions) is the one that counts. Takes @result's data. 0, or negative with @error to fail the job. On the
         * scheduler's thread.
         */
        int (*merge)(struct action *action, int output, struct task_result *result, struct fst_error *error);

        /*
         * Likewise: the outputs that were merged are computed again, as those of a barrier stage are when one of its
         * tasks fails: forget them. NULL: nothing is kept of them here.
         */
        void (*reset)(struct action *action);
};

#define TASK_RESULT_VERSION 1

/*
 * Append @result's encoded form to @out: a byte TASK_RESULT_VERSION and what the kind of action says
 * (exec/action_NAME.c). Takes what @result owns, also when it fails. Any thread.
 */
int task_result_encode(struct action *action, struct task_result *result, struct buf *out, struct fst_error *error);

/*
 * The other way; *@result is to be merged or discarded. It takes about as much memory as @data. -EBADMSG with @error,
 * @result untouched, for bytes that are no result of this action. Any thread.
 */
int task_result_decode(struct action *action, const void *data, size_t len, struct task_result *result,
                       struct fst_error *error);
