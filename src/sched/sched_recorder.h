/*
 * A trace of a scheduler's inputs and decisions, a line each, in order. A new scheduler that gets the same inputs
 * (sched/simulator/sched_replay.h) must produce the same trace: `firesteel simulate --replay` checks the run of a real
 * driver, and a simulation's finding is kept as a file.
 *
 *      struct sched *s = sched_new(&config, &ops, owner);
 *      sched_record(s, (struct sched_trace_sink){.write = to_file, .close = close_file, .owner = file});
 *
 * Version 1, text. The first line is "firesteel-scheduler-trace 1". Words are as in sched/trace_format.h; T is the time
 * in nanoseconds, E an executor's index, S.A a stage attempt, TEXT a text.
 *
 * Inputs:
 *      config KEY VALUE …                          struct sched_config, by its members' names
 *      pool NAME MODE MIN-SHARE WEIGHT
 *      resource NAME AMOUNT                        that each task takes, in parts of RESOURCE_ONE
 *      rdd ID PARTITIONS FLAGS NAME CALL-SITE DEP …            before the first job that uses it. FLAGS: 1 barrier,
 *                                                  2 indeterminate. DEP: "n PARENT"; "m PARENT FIRST COUNT …" where
 *                                                  each partition needs other ones; "s PARENT SHUFFLE"
 *      submit T RDD CALL-SITE N PARTITION … KEY VALUE …        N is -1 for all partitions; properties follow
 *      done OUTPUT COUNT …                         outputs of the next job that are done before
 *      stored SHUFFLE MAP E HANDLE …               outputs that an earlier driver has left for the next job
 *      cancel_job T JOB TEXT                       cancel_group T GROUP TEXT
 *      cancel_tag T TAG TEXT                       cancel_stage T STAGE TEXT
 *      cancel_all T                                unregister_shuffle SHUFFLE
 *      move_output SHUFFLE MAP HANDLE E E
 *      add_executor T ID HOST CORES RESOURCE …     RESOURCE: NAME, how many addresses, the addresses
 *      add_profile_executor T PROFILE ID HOST CORES RESOURCE …
 *      lose_executor T E BY-APP TEXT               lose_host T HOST TEXT
 *      disable_executor E                          enable_executor E               lend_cores E CORES
 *      decommission_executor E HOST-TOO            suspect_task TASK-ID
 *      kill_attempt TASK-ID INTERRUPT TEXT         result_fits T TASK-ID BYTES
 *      task_progress TASK-ID RECORDS RUN-NS        release_core T TASK-ID
 *      status T TASK-ID STATE RUN-NS RECORDS OUTPUT …          for each status of the call. After a failure TEXT, after
 *                                                  a failed fetch SHUFFLE MAP E too (SHUFFLE -1: unknown)
 *      adopt_run T STAGE ATTEMPT E TASK-ID CORE OUTPUT …       a batch of an earlier driver. CORE: it takes one
 *      revive T                                    tick T                         end
 *
 * Queries and their answers, within the call above. Negative answers are omitted.
 *      cached RDD                                  every partition of it is
 *      preferred RDD PARTITION N E HOST …          locations of the partition. E -1: no executor, HOST -: none
 *      may_prefer RDD                              its partitions may have preferred locations
 *      rack HOST RACK
 *      rdd_profile RDD PROFILE                     directly after the submit line: its resource profile
 *      profile PROFILE CPUS ANY NAME AMOUNT …      the resource profile of a stage. ANY: its tasks run on all executors
 *
 * Decisions, within the call above:
 *      = job_started JOB                           = stage_submitted S.A TASKS
 *      = launch E S.A TASK-ID LOCALITY FLAGS WHAT …            FLAGS: 1 speculative, 2 suspect. WHAT: INDEX+COUNT for
 *                                                  first attempts whose partition and output are their index, else
 *                                                  INDEX,PARTITION,OUTPUT,ATTEMPT
 *      = resource NAME AMOUNT N ADDRESS …          of the launch before
 *      = kill_task E TASK-ID INTERRUPT TEXT        = task_lost E TASK-ID STATE TEXT
 *      = task_accepted TASK-ID                     = stage_completed S.A TEXT
 *      = job_ended JOB RESULT TEXT                 = map_output_removed SHUFFLE MAP E HANDLE
 *      = speculative_submitted S.A INDEX           = barrier_launching S.A E …
 *      = outputs_reset JOB                         = excluded S.A|- E HOST FAILURES LIFTED
 *      = kill_executor E DECOMMISSION TEXT         = unschedulable S.A YES
 *      = task_set_removed S.A                      = stage_removed S              = job_removed JOB
 *
 * Only properties that the scheduler reads are recorded (spark.job…, spark.scheduler…), so no secrets.
 */
#pragma once

#include "sched/sched.h"

#include <stddef.h>

#define SCHED_TRACE_FIRST_LINE "firesteel-scheduler-trace 1"

/* Receives a trace. Called on the scheduler's thread. */
struct sched_trace_sink {
        /* One or more whole lines, each with its newline. Borrowed for the call. */
        void (*write)(void *owner, const char *lines, size_t len);
        void (*close)(void *owner); /* the trace has ended; may be NULL */
        void *owner;
        bool each_line; /* pass each line at once instead of some 32 KiB */
};

/* Records @s until sched_free. Call it directly after sched_new. */
void sched_record(struct sched *s, struct sched_trace_sink sink);

/* ------------------------------------------------------------------------------------------ for this room */

struct sched_recorder;

/* The integer members of struct sched_config, as a trace has them. Then the fractions. */
#define SCHED_TRACE_SETTINGS(SETTING)                                                                                  \
        SETTING(max_failures)                                                                                          \
        SETTING(task_cpus)                                                                                             \
        SETTING(max_stage_attempts)                                                                                    \
        SETTING(max_total_attempts)                                                                                    \
        SETTING(ignore_decommission_failures)                                                                          \
        SETTING(resubmit_delay)                                                                                        \
        SETTING(max_run)                                                                                               \
        SETTING(run_target)                                                                                            \
        SETTING(first_task_id)                                                                                         \
        SETTING(outputs_outlive_executors)                                                                             \
        SETTING(unregister_outputs_on_host)                                                                            \
        SETTING(dynamic_allocation)                                                                                    \
        SETTING(lends_cores)                                                                                           \
        SETTING(max_result_size)                                                                                       \
        SETTING(barrier_check_interval)                                                                                \
        SETTING(barrier_check_max_failures)                                                                            \
        SETTING(locality.wait_process)                                                                                 \
        SETTING(locality.wait_node)                                                                                    \
        SETTING(locality.wait_rack)                                                                                    \
        SETTING(locality.legacy_reset)                                                                                 \
        SETTING(speculation.enabled)                                                                                   \
        SETTING(speculation.interval)                                                                                  \
        SETTING(speculation.min_runtime)                                                                               \
        SETTING(speculation.threshold)                                                                                 \
        SETTING(speculation.efficiency)                                                                                \
        SETTING(exclusion.stage)                                                                                       \
        SETTING(exclusion.application)                                                                                 \
        SETTING(exclusion.max_task_attempts_per_executor)                                                              \
        SETTING(exclusion.max_task_attempts_per_node)                                                                  \
        SETTING(exclusion.stage_max_failed_tasks_per_executor)                                                         \
        SETTING(exclusion.stage_max_failed_executors_per_node)                                                         \
        SETTING(exclusion.max_failed_tasks_per_executor)                                                               \
        SETTING(exclusion.max_failed_executors_per_node)                                                               \
        SETTING(exclusion.timeout)                                                                                     \
        SETTING(exclusion.kill)                                                                                        \
        SETTING(exclusion.decommission)                                                                                \
        SETTING(exclusion.fetch_failure)                                                                               \
        SETTING(exclusion.unschedulable_timeout)

#define SCHED_TRACE_FRACTIONS(FRACTION)                                                                                \
        FRACTION(speculation.multiplier)                                                                               \
        FRACTION(speculation.quantile)                                                                                 \
        FRACTION(speculation.rate_multiplier)                                                                          \
        FRACTION(speculation.long_run_factor)

/* The functions of sched.h call this first, and where an answer affects a decision. */
#define sched_note(s, what, ...)                                                                                       \
        do {                                                                                                           \
                if (unlikely((s)->recorder))                                                                           \
                        sched_recorder_##what((s)->recorder, ##__VA_ARGS__);                                           \
        } while (0)

void sched_recorder_submit(struct sched_recorder *r, const struct job_spec *spec, int64_t now);

void sched_recorder_add_executor(struct sched_recorder *r, const struct executor_spec *spec, int64_t now);
void sched_recorder_adopt_run(struct sched_recorder *r, const struct task_set *set,
                              const struct sched_adoption *adoption, int64_t now);
void sched_recorder_status(struct sched_recorder *r, const struct task_status *statuses, int n, int64_t now);

/* Writes a line, formatted by trace_put. */
void sched_recorder_line(struct sched_recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last line was written: flushes, and closes the sink. */
void sched_recorder_free(struct sched_recorder *r);
