/*
 * An executor: a process that runs an application's tasks. Whoever starts it (a worker, a container, a fork) gives it
 * these arguments; everything else it asks the driver for.
 *
 * It fetches the application's configuration, registers, runs what it is told to, and ends when the driver says so or
 * is gone. Spark's name for it is CoarseGrainedExecutorBackend.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_conf;
struct fst_error;

struct executor_options {
        const char *driver_url;  /* "spark://CoarseGrainedScheduler@host:port" */
        const char *executor_id; /* "0" */
        const char *hostname;    /* under which others reach it */
        int cores;
        int group_processes; /* of the application that share its control group, itself and the driver counted; 0: 1 */
        const char *app_id;
        bool started_by_driver;     /* in a local cluster: SIGTERM is an order of the driver */
        const char *worker_url;     /* of the worker that started it, which it follows into death; NULL: nobody */
        const char *bind_address;   /* NULL: the hostname */
        const char *resources_file; /* JSON: [{"id": {"resourceName": "gpu"}, "addresses": ["0"]}]; NULL: none */
        int resource_profile;
        const char **user_class_path; /* shared objects to load at the start; borrowed */
        size_t n_user_class_path;
        /*
         * What it was started with. Of the driver's configuration, keys for the start (spark.rpc.*, spark.authenticate,
         * ports, …) do not override these. Borrowed.
         */
        const struct fst_conf *conf;
};

/* Exit statuses, Spark's where Spark has one. */
enum executor_exit {
        EXECUTOR_EXIT_OK = 0,
        EXECUTOR_EXIT_FAILED = 1,         /* it could not start, was refused, or lost its driver */
        EXECUTOR_EXIT_OUT_OF_MEMORY = 52, /* its limit was exceeded, and no task could be ended for it */
        EXECUTOR_EXIT_DISK = 53,          /* no local directory could be made */
        EXECUTOR_EXIT_HEARTBEAT = 56,     /* the driver does not answer heartbeats */
};

/* Be an executor until its end; the process's exit status. What went wrong was logged. The only thread of the process.
 */
int executor_run(const struct executor_options *options);

/* Whether @key is one of those that the driver does not override: Spark's isExecutorStartupConf. */
bool executor_startup_key(const char *key);
