/*
 * The executor's side of a worker process: runs tasks in it as if they ran here, and starts a fresh one when it ends.
 *
 * exec/slot.h uses it on the slot's thread: always for a slot of the process kind, and for suspect runs in the others.
 *
 * When a worker ends in the middle of a run, the task that it was at fails with what the worker's crash handler said
 * (task, function, signal), how it ended, and the core file if there is one. Outcomes that the worker had sent count;
 * the other tasks of the run are given to the next worker. If it ends three times in a row before it began any task,
 * the run fails.
 */
#pragma once

#include "exec/slot.h"

struct isolation;
struct worker_slot;

struct worker_slot *worker_slot_new(int index, const struct exec_env *env, struct isolation *isolation);

/* Have a worker ready before it is needed. On the slot's thread. */
void worker_slot_prepare(struct worker_slot *slot);

/* Run all tasks of @run and fill them in. Blocks. On the slot's thread. */
void worker_slot_run(struct worker_slot *slot, struct task_batch *run);

/*
 * Tell task @task_id of the present run to end: at its next safe point, and with @now by the end of its process unless
 * it has reached one 100 ms later. Nothing if it is not running. Any thread.
 */
void worker_slot_kill(struct worker_slot *slot, int64_t task_id, bool now);

/* The task that the worker is at, its process and what that has resident. Any thread, while worker_slot_run runs. */
void worker_slot_activity(struct worker_slot *slot, struct slot_activity *activity);

/* Ends the worker. NULL is allowed. */
void worker_slot_free(struct worker_slot *slot);
