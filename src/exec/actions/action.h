/*
 * An action as the tasks of its job use it: the sink for the rows of a partition, and the result of a task. The driver
 * has one struct, each executor one decoded from bytes (exec/task/stage_wire.h). In local mode they are the same
 * struct.
 */
#pragma once

#include "rdd/pipeline/op.h"

struct action;
struct buf;
struct exec_env;
struct rdd_wire_reader;
struct rdd_wire_writer;
struct Firesteel__Action;

/* The result of one task. The class of the action decides which fields it uses. */
struct task_result {
        int64_t number;
        void *data;   /* owned */
        size_t bytes; /* size of the result, counted against spark.driver.maxResultSize */
};

/* A class of actions. Each is in exec/actions/action_NAME.c and is declared in exec/actions/action_kinds.h. */
struct action_class {
        const char *name; /* "count", also on the wire */

        /* Returns a sink for one slot. @env lives as long as the slot. */
        struct op *(*sink_new)(struct action *action, struct task_run *run, const struct exec_env *env);

        /*
         * Called when the partition is complete: moves the sink's value into @result. Returns 0, or negative after
         * task_run_fail. On the task's thread.
         */
        int (*result)(struct action *action, struct op *sink, struct task_result *result);

        /* Frees a result that is not used. NULL if `data` is never set. Any thread. */
        void (*discard)(struct action *action, struct task_result *result);

        /* The attempt failed: removes its external effects (files). NULL if there are none. On the task's thread. */
        void (*failed)(struct action *action, struct task_run *run);

        /*
         * Convert an action to and from its message. encode (on the driver) writes the fields that only this class has.
         * decode (on an executor) builds *@out, with its common fields set, in the reader's memory. `release` frees
         * memory outside the reader's; NULL if there is none. Return 0, or negative with @error.
         */
        int (*encode)(const struct action *action, struct rdd_wire_writer *writer, struct Firesteel__Action *message,
                      struct fst_error *error);
        int (*decode)(struct rdd_wire_reader *reader, const struct Firesteel__Action *message, fst_type type,
                      struct action **out, struct fst_error *error);
        void (*release)(struct action *action);

        /*
         * Convert a task's result to bytes (on the executor) and back (on the driver, which does not trust them:
         * -EBADMSG). Called through task_result_encode and task_result_decode. NULL if the action has no result.
         */
        int (*encode_result)(const struct action *action, const struct task_result *result, struct buf *out,
                             struct fst_error *error);
        int (*decode_result)(const struct action *action, const unsigned char *data, size_t len,
                             struct task_result *result, struct fst_error *error);
};

struct action {
        const struct action_class *class;
        fst_type type;        /* of the input rows */
        size_t sample_budget; /* text files and binary records read only this many bytes of each partition, as a sample;
                                 0: everything */

        /*
         * Driver only (the structs of driver/actions/action_*.c embed this): accepts @result for output @output (an
         * index into the job's partitions) and takes its data. Returns 0, or negative with @error to fail the job. On
         * the scheduler's thread.
         */
        int (*merge)(struct action *action, int output, struct task_result *result, struct fst_error *error);

        /*
         * Driver only: forgets the merged outputs, because they are computed again (a task of a barrier stage failed).
         * NULL if merge keeps nothing.
         */
        void (*reset)(struct action *action);

        /*
         * Driver only: returns whether the effect of output @output, which an earlier driver has accepted, still exists.
         * NULL: it has no effect but its result.
         */
        bool (*kept)(const struct action *action, int output);
};

#define TASK_RESULT_VERSION 1

/*
 * Appends the encoded @result to @out: a byte TASK_RESULT_VERSION, then the bytes of the class. Takes the memory of
 * @result, also on failure. Any thread.
 */
int task_result_encode(struct action *action, struct task_result *result, struct buf *out, struct fst_error *error);

/*
 * Decodes a result, which the caller must merge or discard. It takes about as much memory as @data. Returns -EBADMSG
 * with @error, @result untouched, if @data is not a result of this action. Any thread.
 */
int task_result_decode(struct action *action, const void *data, size_t len, struct task_result *result,
                       struct fst_error *error);
