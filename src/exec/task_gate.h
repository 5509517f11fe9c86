/*
 * A gate that tasks of an executor wait at: the cluster that started the executor counts each task as one of its own,
 * and allows its start. The driver's launch says what a task does; the gate says when. Either may come first.
 *
 * All on the loop's thread of the executor. A gate lives from before executor_run until after it.
 */
#pragma once

#include <stdint.h>

#include <uv.h>

struct executor;
struct fst_error;
struct task_gate;

enum task_gate_end {
        TASK_GATE_SUCCEEDED,
        TASK_GATE_FAILED,
        TASK_GATE_KILLED,
};

struct task_gate_class {
        /*
         * The executor starts. May run the loop, and complete the options with which executor_run was called: the
         * driver's address, hostname, cores, and settings. Returns 0, or a negative status with @error, which ends the
         * executor.
         */
        int (*start)(struct task_gate *gate, uv_loop_t *loop, struct executor *executor, struct fst_error *error);

        /* The executor has registered with the driver. */
        void (*registered)(struct task_gate *gate);

        /* A task that came through the gate has ended and told the driver. */
        void (*ended)(struct task_gate *gate, int64_t task_id, enum task_gate_end how);

        /* The executor ends: close all handles. The loop runs after it. */
        void (*stop)(struct task_gate *gate);
};

struct task_gate {
        const struct task_gate_class *class;
};

/* ------------------------------------------------------------------------------------------------ for gates */

/* The task may start, once the driver has sent it. `ended` follows once. */
void task_gate_open(struct executor *executor, int64_t task_id);

/* The cluster ends a task that it let in: it is killed, or never starts. `ended` follows once. */
void task_gate_kill(struct executor *executor, int64_t task_id);

/* The cluster ends the executor. @status: the exit status of the process. */
void task_gate_end_executor(struct executor *executor, int status);
