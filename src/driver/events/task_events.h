/*
 * Converts the scheduler's objects to listener events and posts them.
 *
 * Threads: the job runner's.
 */
#pragma once

#include "driver/context.h"
#include "driver/executor_info.h"
#include "exec/slot.h"
#include "sched/job.h"
#include "sched/stage.h"

struct task_event_poster;
struct task_set;

struct task_event_poster *task_events_new(struct fst_context *sc);

/* NULL is allowed. */
void task_events_free(struct task_event_poster *e);

/* An executor has registered with its block manager. */
void task_events_executor_added(struct task_event_poster *e, const struct executor_info *x);

/* An executor is gone. */
void task_events_executor_removed(struct task_event_poster *e, const struct executor_ref *x, const char *reason);

/* As the operations of these names in struct sched_ops. */
void task_events_excluded(struct task_event_poster *e, const struct exclusion *what);
void task_events_speculative(struct task_event_poster *e, const struct task_set *set, int index);
void task_events_unschedulable(struct task_event_poster *e, const struct task_set *set, bool yes);

void task_events_job_started(struct task_event_poster *e, const struct job *job);
void task_events_job_ended(struct task_event_poster *e, int job, const char *failure);
void task_events_stage_submitted(struct task_event_poster *e, struct stage *stage, const struct task_set *set);
void task_events_stage_completed(struct task_event_poster *e, const struct stage *stage, const char *failure);
void task_events_stage_removed(struct task_event_poster *e, struct stage *stage);

/* All tasks of @run were launched, or have ended with their outcomes. */
void task_events_launched(struct task_event_poster *e, const struct task_set *set, const struct task_batch *run);
void task_events_ended(struct task_event_poster *e, const struct task_batch *run);
