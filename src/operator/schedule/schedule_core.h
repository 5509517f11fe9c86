/*
 * Decides when ScheduledSparkApplications start runs, and which past runs remain. Pure.
 *
 *      if (schedule_core_observe(core, &schedule))            an object or a run changed
 *              queue key "namespace/name"
 *      …
 *      deadline = schedule_core_reconcile(core, ns, name, now_ms);
 *      while (schedule_core_next_action(core, &action)) {
 *              shell performs it, and later calls schedule_core_done(core, …)
 *              schedule_action_deinit(&action);
 *      }
 *      queue the key again at `deadline`
 *
 * Behaviour: kubeflow's operator v2. The first look computes nextRun only. When nextRun is over and the concurrency
 * policy permits it, a run is created; nextRun is then the first occurrence after now, so that any number of missed
 * occurrences starts one run.
 *
 * Differs from the genuine operator: the number in a run's name is the time of nextRun, so that a repeated creation
 * finds the run of the first one and starts no second. Past runs are counted when they end, not when the next one
 * starts. With Forbid, an overdue run starts as soon as the previous one has ended. A schedule that was corrected
 * leaves FailedValidation. An unset concurrency policy means Allow. A clock that is set back starts no run again.
 *
 * Invariants: at most one action of a schedule is under way. With Forbid, at most one run is unfinished.
 *
 * Times are ms since 1970. One thread.
 */
#pragma once

#include "operator/resources/application_status.h"
#include "operator/schedule/schedule_status.h"

struct schedule_core;

enum schedule_concurrency { SCHEDULE_ALLOW, SCHEDULE_FORBID, SCHEDULE_REPLACE };

/* Texts are borrowed for the call. */
struct schedule_observation {
        const char *namespace, *name, *uid;
        uint64_t version; /* resourceVersion; 0: not a number */
        bool leaving;     /* has a deletion timestamp */
        bool suspend;
        const char *schedule, *time_zone; /* time_zone NULL: "Local" */
        enum schedule_concurrency concurrency;
        int32_t successful_limit, failed_limit; /* of the history */
        struct schedule_status status;          /* borrowed; the core copies it */
};

/* Reads an object. The caller must free out->status. */
void schedule_observation_read(const json_t *object, struct schedule_observation *out);

/* A SparkApplication that a schedule started. */
struct run_observation {
        const char *namespace, *name, *uid, *schedule;
        const char *owner_uid; /* of the schedule among its owners; NULL: none, counts as a run by its label */
        int64_t created_ms;
        bool leaving;
        enum application_state state;
};

/* Reads a SparkApplication. Returns false if it is no run of a schedule. */
bool run_observation_read(const json_t *object, struct run_observation *out);

enum schedule_action_kind {
        SCHEDULE_CREATE_RUN,   /* create the run `run`; an existing one of this schedule is fine */
        SCHEDULE_DELETE_RUN,   /* delete `run` with `run_uid`; a missing one is fine */
        SCHEDULE_WRITE_STATUS, /* replace the status if the object still has `version` */
};

struct schedule_action {
        enum schedule_action_kind kind;
        uint64_t ticket;
        char *namespace, *name, *uid; /* of the schedule */
        uint64_t version;
        char *run, *run_uid;
        struct schedule_status status;
};

void schedule_action_deinit(struct schedule_action *a);

enum schedule_result {
        SCHEDULE_RESULT_OK,
        SCHEDULE_RESULT_REFUSED, /* CREATE_RUN: a repetition would fail as well; the run is given up */
        SCHEDULE_RESULT_RETRY,   /* anything else; a conflict too: the next observation has the reason */
};

/* The unit of the numbers in names of runs. */
enum schedule_precision {
        SCHEDULE_NANOS,
        SCHEDULE_MICROS,
        SCHEDULE_MILLIS,
        SCHEDULE_SECONDS,
        SCHEDULE_MINUTES,
};

struct schedule_core *schedule_core_new(enum schedule_precision precision);
void schedule_core_free(struct schedule_core *core);

/* Observations. Return true if the schedule should be queued for schedule_core_reconcile. */
bool schedule_core_observe(struct schedule_core *core, const struct schedule_observation *o);
bool schedule_core_removed(struct schedule_core *core, const char *namespace, const char *name);
bool schedule_core_observe_run(struct schedule_core *core, const struct run_observation *run);

/* A SparkApplication is gone. @uid "": unknown. Returns the name of its schedule, borrowed, if it should be queued. */
const char *schedule_core_run_removed(struct schedule_core *core, const char *namespace, const char *run,
                                      const char *uid);

/* The first complete lists of schedules and runs were passed. Before that, reconcile does nothing. */
void schedule_core_synced(struct schedule_core *core);

/* Emits at most one action. Returns the time at which to call it again without a cause, or INT64_MAX. */
int64_t schedule_core_reconcile(struct schedule_core *core, const char *namespace, const char *name, int64_t now_ms);
bool schedule_core_next_action(struct schedule_core *core, struct schedule_action *action);

/*
 * An action has ended. @message: why it failed. @version: the object's after WRITE_STATUS, else 0. Returns true if the
 * schedule should be queued, after a pause if the action failed.
 */
bool schedule_core_done(struct schedule_core *core, const char *namespace, const char *name, uint64_t ticket,
                        enum schedule_result result, const char *message, uint64_t version, int64_t now_ms);
