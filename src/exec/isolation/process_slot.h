/*
 * The executor's side of a task process: runs tasks in it as if they ran here, and starts a new one when it ends.
 *
 * exec/slot.h uses it on the slot's thread: always if the slot uses task processes, and for suspect batches otherwise.
 *
 * When a task process ends in the middle of a batch, its current task fails with the report of the crash handler (task,
 * function, signal), the exit status, and the core file if there is one. Outcomes sent before count. The next process
 * gets the other tasks of the batch. If the process ends three times in a row before it began a task, the batch fails.
 */
#pragma once

#include "exec/slot.h"

struct isolation;
struct process_slot;

struct process_slot *process_slot_new(int index, const struct exec_env *env, struct isolation *isolation);

/* Starts a task process before it is needed. On the slot's thread. */
void process_slot_prepare(struct process_slot *slot);

/* Runs all tasks of @run and fills in their outcomes. Blocks. On the slot's thread. */
void process_slot_run(struct process_slot *slot, struct task_batch *run);

/*
 * Kills task @task_id of the current batch: it ends at its next safe point; with @now its process is killed if that
 * takes more than 100 ms. No effect if the task is not running. Any thread.
 */
void process_slot_kill(struct process_slot *slot, int64_t task_id, bool now);

/* Returns the current task, its process and the process's resident bytes. Any thread, while process_slot_run runs. */
void process_slot_activity(struct process_slot *slot, struct slot_activity *activity);

/* As slot_progress, while process_slot_run runs. */
bool process_slot_progress(struct process_slot *slot, struct slot_progress *progress);

/* Ends the task process. NULL is allowed. */
void process_slot_free(struct process_slot *slot);
