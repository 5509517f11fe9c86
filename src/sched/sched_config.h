/* The scheduler's settings. Each member names its key. Times are nanoseconds. */
#pragma once

#include "sched/tasks/pool.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCHED_MAX_RUN = 256 };

/* One whole address of a resource. A task may request a fraction. */
#define RESOURCE_ONE INT64_C(10000000000000000)

/* spark.task.resource.<name>.amount: the share of a resource that each task takes. */
struct resource_request {
        char *name;
        int64_t amount; /* in parts of RESOURCE_ONE: ≤ one, or a multiple of it */
};

/* A resource profile: what each task takes. The default one, with id 0, comes from the configuration. */
struct task_profile {
        int id;
        int cpus;
        bool any_executor; /* tasks run on executors of every profile, else on those of this one */
        const struct resource_request *requests;
        int n_requests;
};

/* spark.locality.wait.*: how long a free core waits for a task with better locality. */
struct locality_config {
        int64_t wait_process, wait_node, wait_rack; /* .process, .node, .rack */
        bool legacy_reset;                          /* .legacyResetOnTaskLaunch */
};

/* spark.speculation.* */
struct speculation_config {
        bool enabled;
        int64_t interval;       /* .interval */
        double multiplier;      /* .multiplier */
        double quantile;        /* .quantile */
        int64_t min_runtime;    /* .minTaskRuntime */
        int64_t threshold;      /* .task.duration.threshold; 0: none */
        bool efficiency;        /* .efficiency.enabled */
        double rate_multiplier; /* .efficiency.processRateMultiplier */
        double long_run_factor; /* .efficiency.longRunTaskFactor */
};

/* spark.excludeOnFailure.* */
struct exclusion_config {
        bool stage;                              /* .taskAndStage.enabled, else .enabled */
        bool application;                        /* .application.enabled, else .enabled */
        int max_task_attempts_per_executor;      /* .task.maxTaskAttemptsPerExecutor */
        int max_task_attempts_per_node;          /* .task.maxTaskAttemptsPerNode */
        int stage_max_failed_tasks_per_executor; /* .stage.maxFailedTasksPerExecutor */
        int stage_max_failed_executors_per_node; /* .stage.maxFailedExecutorsPerNode */
        int max_failed_tasks_per_executor;       /* .application.maxFailedTasksPerExecutor */
        int max_failed_executors_per_node;       /* .application.maxFailedExecutorsPerNode */
        int64_t timeout;                         /* .timeout */
        bool kill;                               /* .killExcludedExecutors */
        bool decommission;                       /* .killExcludedExecutors.decommission */
        bool fetch_failure;                      /* .application.fetchFailure.enabled */
        int64_t unschedulable_timeout;           /* spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout */
};

struct sched_config {
        enum scheduling_mode mode;     /* spark.scheduler.mode */
        const struct pool_spec *pools; /* fairscheduler.xml (sched/tasks/pool_file.h); borrowed for sched_new */
        int n_pools;
        int max_failures;                         /* spark.task.maxFailures; local[N] has 1 */
        int task_cpus;                            /* spark.task.cpus */
        const struct resource_request *resources; /* borrowed for sched_new */
        int n_resources;
        int max_stage_attempts;            /* spark.stage.maxConsecutiveAttempts */
        int max_total_attempts;            /* spark.stage.maxAttempts */
        bool ignore_decommission_failures; /* spark.stage.ignoreDecommissionFetchFailure */
        int64_t resubmit_delay;            /* to collect fetch failures before a map stage runs again */
        int max_run;                       /* ≤ SCHED_MAX_RUN; 1 disables runs */
        int64_t run_target;                /* amount of work for a run */
        int64_t first_task_id;             /* at least; those of an earlier driver are lower */
        bool outputs_outlive_executors;    /* an external shuffle service serves map outputs */
        bool unregister_outputs_on_host;   /* spark.files.fetchFailure.unRegisterOutputOnHost, with the service */
        bool dynamic_allocation;           /* executors are requested as tasks need them */
        bool lends_cores;                  /* executors get cores by sched_lend_cores only: no barrier stage can run */
        int64_t max_result_size;           /* spark.driver.maxResultSize; 0: no limit */
        int64_t barrier_check_interval;    /* spark.scheduler.barrier.maxConcurrentTasksCheck.interval */
        int barrier_check_max_failures;    /* ….maxFailures */
        struct locality_config locality;
        struct speculation_config speculation;
        struct exclusion_config exclusion;
};

/* Spark's defaults. */
#define SCHED_CONFIG_DEFAULT                                                                                           \
        ((struct sched_config){                                                                                        \
                .mode = SCHEDULING_FIFO,                                                                               \
                .max_failures = 4,                                                                                     \
                .task_cpus = 1,                                                                                        \
                .max_stage_attempts = 4,                                                                               \
                .max_total_attempts = INT32_MAX,                                                                       \
                .ignore_decommission_failures = true,                                                                  \
                .resubmit_delay = 200000000,                                                                           \
                .max_run = SCHED_MAX_RUN,                                                                              \
                .run_target = 700000,                                                                                  \
                .max_result_size = INT64_C(1) << 30,                                                                   \
                .barrier_check_interval = INT64_C(15000000000),                                                        \
                .barrier_check_max_failures = 40,                                                                      \
                .locality = {INT64_C(3000000000), INT64_C(3000000000), INT64_C(3000000000), false},                    \
                .speculation = {.interval = 100000000,                                                                 \
                                .multiplier = 3,                                                                       \
                                .quantile = 0.9,                                                                       \
                                .min_runtime = 100000000,                                                              \
                                .efficiency = true,                                                                    \
                                .rate_multiplier = 0.75,                                                               \
                                .long_run_factor = 2},                                                                 \
                .exclusion = {.max_task_attempts_per_executor = 1,                                                     \
                              .max_task_attempts_per_node = 2,                                                         \
                              .stage_max_failed_tasks_per_executor = 2,                                                \
                              .stage_max_failed_executors_per_node = 2,                                                \
                              .max_failed_tasks_per_executor = 2,                                                      \
                              .max_failed_executors_per_node = 2,                                                      \
                              .timeout = INT64_C(3600000000000),                                                       \
                              .unschedulable_timeout = INT64_C(120000000000)},                                         \
        })
