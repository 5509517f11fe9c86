/*
 * The status of an application: a listener that counts active, completed, failed, killed and skipped tasks and stages
 * of each job. The progress bar, log lines and the web UI read it.
 *
 * Ended jobs and stages are kept up to a number (spark.ui.retainedJobs, spark.ui.retainedStages). The oldest are
 * dropped first. Any thread may read. A reader sees the counts after a whole batch of events.
 */
#pragma once

#include "driver/events/listener_bus.h"

struct app_status;
struct app_view;
struct status_options;

enum stage_status_state { STAGE_PENDING, STAGE_ACTIVE, STAGE_COMPLETE, STAGE_FAILED, STAGE_SKIPPED };
enum job_status_state { JOB_RUNNING, JOB_SUCCEEDED, JOB_FAILED };

/* One attempt of a stage. Each task attempt counts. */
struct stage_status {
        int id, attempt;
        enum stage_status_state state;
        int tasks;       /* of the stage */
        int speculative; /* speculative attempts */
        int64_t active, completed, failed, killed;
        int64_t submission_ms, first_launch_ms, completion_ms; /* 0: not yet */
        int64_t run_ms, cpu_ns;                                /* sums over ended tasks */
        int64_t longest_ms;                                    /* of one attempt, from launch to finish */
        int64_t input_bytes, input_records, output_bytes, output_records;
        int64_t shuffle_read_bytes, shuffle_read_records, shuffle_write_bytes, shuffle_write_records;
        int64_t memory_bytes_spilled, disk_bytes_spilled;
};

struct job_status {
        int id;
        enum job_status_state state;
        int64_t submission_ms, completion_ms;
        int stages, active_stages, completed_stages, failed_stages, skipped_stages;
        int64_t tasks, active_tasks, completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
};

/* @options NULL: Spark's limits, and without single tasks, which only pages show. */
struct app_status *app_status_new(const struct status_options *options);

/* The status for pages (ui/app_view.h). Its class, owner and redactor are unset. */
struct app_view *app_status_view(struct app_status *status);
struct listener *app_status_listener(struct app_status *status);

/* Fill @out with at most @room active stages, in the order of submission. Returns their number. */
size_t app_status_active_stages(struct app_status *status, struct stage_status *out, size_t room);

/* Get one stage attempt or job. Returns false if it is unknown or was dropped. */
bool app_status_stage(struct app_status *status, int id, int attempt, struct stage_status *out);
bool app_status_job(struct app_status *status, int id, struct job_status *out);

/*
 * Fill @ids with at most @room known jobs, oldest first: of a group (NULL: of no group), or running ones. Return the
 * number of all such jobs. The third function lists the stages of a job, or returns -ENOENT for an unknown job.
 */
size_t app_status_jobs_of_group(struct app_status *status, const char *group, int *ids, size_t room);
size_t app_status_active_jobs(struct app_status *status, int *ids, size_t room);
int app_status_stages_of_job(struct app_status *status, int job, int *ids, size_t room);

/* Counts since the start of the application, including dropped stages. */
struct app_status_totals {
        int64_t completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
        int64_t succeeded_jobs, failed_jobs;
        int64_t completed_stages, failed_stages, skipped_stages;
        int64_t excluded_executors, unexcluded_executors; /* by the whole application; how often */
        int64_t job_ms;                                   /* the duration of the job that succeeded last */
};
struct app_status_totals app_status_totals(struct app_status *status);

/* Storage memory and disk of all active block managers, in bytes. */
struct app_status_storage {
        int64_t max_memory, max_on_heap, max_off_heap, used_on_heap, used_off_heap, disk_used;
};
struct app_status_storage app_status_storage(struct app_status *status);

/* An executor. The last 100 removed ones are kept. */
struct executor_status {
        char id[32], host[256];
        int cores;
        bool is_active, excluded; /* excluded: by the whole application */
        int64_t added_ms, removed_ms;
        int64_t active_tasks, completed_tasks, failed_tasks; /* without killed tasks */
        int64_t duration_ms, shuffle_write_bytes;            /* sums over ended tasks */
        int64_t peak_memory;                                 /* the peak execution memory of one task, bytes */
        int port;                                            /* of its block manager; 0: unknown */
        int64_t memory_used;                                 /* by stored blocks, bytes */
        int64_t max_on_heap, max_off_heap, used_on_heap, used_off_heap;
        char removed_reason[256]; /* truncated */
};

/*
 * Fill @out with at most @room executors, in the order of registration. Returns the number of all executors, which may
 * be greater.
 */
size_t app_status_executors(struct app_status *status, struct executor_status *out, size_t room);

/* Called after the bus has stopped. NULL is allowed. */
void app_status_free(struct app_status *status);
