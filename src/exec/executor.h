/*
 * An executor: a process that runs an application's tasks. Its starter (a worker, a container, a fork) passes the
 * arguments below. The driver provides everything else.
 *
 * It fetches the application's configuration, registers, runs tasks, and ends when the driver says so or is gone.
 * Spark's name for it is CoarseGrainedExecutorBackend.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_conf;
struct task_gate;

struct executor_options {
        const char *driver_url;  /* "spark://CoarseGrainedScheduler@host:port" */
        const char *executor_id; /* "0" */
        const char *hostname;    /* under which other processes reach it */
        int cores;
        int group_processes; /* processes of the application in its control group, including itself and the driver; 0: 1
                              */
        const char *app_id;
        bool started_by_driver;     /* in a local cluster: the driver sends SIGTERM */
        const char *worker_url;     /* of the worker that started it; the executor ends with it. NULL: no worker */
        const char *bind_address;   /* NULL: the hostname */
        const char *resources_file; /* JSON: [{"id": {"resourceName": "gpu"}, "addresses": ["0"]}]; NULL: none */
        int resource_profile;
        const char **user_class_path; /* shared objects to load at start; borrowed */
        size_t n_user_class_path;
        struct task_gate *gate; /* tasks wait at it (exec/task_gate.h); NULL: they start when the driver sends them */
        /*
         * Its initial configuration. The driver's configuration does not override startup keys in it (spark.rpc.*,
         * spark.authenticate, ports). Borrowed.
         */
        const struct fst_conf *conf;
};

/* Exit statuses; Spark's where Spark has one. */
enum executor_exit {
        EXECUTOR_EXIT_OK = 0,
        EXECUTOR_EXIT_FAILED = 1,         /* failed to start, was refused, or lost its driver */
        EXECUTOR_EXIT_OUT_OF_MEMORY = 52, /* exceeded its memory limit, and no task could be ended */
        EXECUTOR_EXIT_DISK = 53,          /* a local directory could not be created */
        EXECUTOR_EXIT_HEARTBEAT = 56,     /* the driver does not reply to heartbeats */
};

/*
 * Runs an executor until it ends and returns the exit status of the process. Errors are logged. Requires a
 * single-threaded process.
 */
int executor_run(const struct executor_options *options);

/* True if the driver's configuration does not override @key (Spark's isExecutorStartupConf). */
bool executor_startup_key(const char *key);
