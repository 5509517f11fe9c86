/*
 * The status of an application: a listener that counts, for each job and stage, what is active, completed,
 * failed, killed and skipped. The progress bar, log lines and the web UI read it.
 *
 * Jobs and stages that are over are kept up to a number (spark.ui.retainedJobs, spark.ui.retainedStages), then
 * the oldest go. Reading is safe from every thread; a reader sees the counts after some whole batch of events.
 */
#pragma once

#include "driver/events/listener_bus.h"

struct app_status;

enum stage_state { STAGE_PENDING, STAGE_ACTIVE, STAGE_COMPLETE, STAGE_FAILED, STAGE_SKIPPED };
enum job_state { JOB_RUNNING, JOB_SUCCEEDED, JOB_FAILED };

/* One attempt of a stage. Tasks are counted by attempts. */
struct stage_status {
        int id, attempt;
        enum stage_state state;
        int tasks;       /* that the stage has */
        int speculative; /* second attempts that slow tasks were given */
        int64_t active, completed, failed, killed;
        int64_t submission_ms, first_launch_ms, completion_ms; /* 0: not yet */
        int64_t run_ms, cpu_ns;                                /* sums over ended tasks */
        int64_t longest_ms;                                    /* from launch to finish */
        int64_t input_bytes, input_records, output_bytes, output_records;
        int64_t shuffle_read_bytes, shuffle_read_records, shuffle_write_bytes, shuffle_write_records;
        int64_t memory_bytes_spilled, disk_bytes_spilled;
};

struct job_status {
        int id;
        enum job_state state;
        int64_t submission_ms, completion_ms;
        int stages, active_stages, completed_stages, failed_stages, skipped_stages;
        int64_t tasks, active_tasks, completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
};

/* 0: Spark's defaults, 1,000 of each. */
struct app_status *app_status_new(size_t retained_jobs, size_t retained_stages);
struct listener *app_status_listener(struct app_status *status);

/* Up to @room stages that have been submitted and are not over, the earliest submitted first; how many. */
size_t app_status_active_stages(struct app_status *status, struct stage_status *out, size_t room);

/* One stage attempt, or one job; false if there is none (any more). */
bool app_status_stage(struct app_status *status, int id, int attempt, struct stage_status *out);
bool app_status_job(struct app_status *status, int id, struct job_status *out);

/*
 * Ids of known jobs, oldest first: of a group (NULL: of none); of those that run. Up to @room of them; how many there
 * are. And the stages of a job; -ENOENT for one that is not known.
 */
size_t app_status_jobs_of_group(struct app_status *status, const char *group, int *ids, size_t room);
size_t app_status_active_jobs(struct app_status *status, int *ids, size_t room);
int app_status_stages_of_job(struct app_status *status, int job, int *ids, size_t room);

/* Tasks that ended since the application began, whatever became of their stages. */
struct app_status_totals {
        int64_t completed_tasks, failed_tasks, killed_tasks;
        int64_t succeeded_jobs, failed_jobs;
        int64_t completed_stages, failed_stages, skipped_stages;
};
struct app_status_totals app_status_totals(struct app_status *status);

/* An executor; those that are gone are kept, the latest 100 of them. */
struct executor_status {
        char id[32], host[256];
        int cores;
        bool is_active, excluded; /* from the whole application */
        int64_t added_ms, removed_ms;
        int64_t active_tasks, completed_tasks, failed_tasks; /* killed ones are neither */
        int64_t duration_ms, shuffle_write_bytes;            /* sums over ended tasks */
        int64_t peak_memory;                                 /* the most that one of them used for execution, bytes */
        char removed_reason[256];                            /* cut */
};

/* Up to @room executors in the order in which they came; how many there are, which may be more. */
size_t app_status_executors(struct app_status *status, struct executor_status *out, size_t room);

/* After the bus was stopped. NULL is allowed. */
void app_status_free(struct app_status *status);
