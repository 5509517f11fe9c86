/*
 * The ApplicationMaster of client mode in its container (Spark's ExecutorLauncher): connects to the driver's endpoint
 * "YarnScheduler" (am_link.h), gets configuration and targets, registers with the ResourceManager, and runs executors
 * in containers until the driver says that the application ends, or is gone.
 */
#pragma once

struct fst_conf;

/* Exit statuses of Spark's ApplicationMaster. */
enum yarn_am_exit {
        YARN_AM_EXIT_SUCCESS = 0,
        YARN_AM_EXIT_UNCAUGHT_EXCEPTION = 10,
        YARN_AM_EXIT_MAX_FAILURES = 11,
        YARN_AM_EXIT_REPORTER = 12,
        YARN_AM_EXIT_SC_NOT_INITED = 13,
        YARN_AM_EXIT_USER_CLASS = 15,
        YARN_AM_EXIT_EARLY = 16,
        YARN_AM_EXIT_DISCONNECTED = 17,
};

struct executor_launcher_options {
        const char *driver;          /* "host:port" */
        const struct fst_conf *conf; /* the settings for the start; borrowed */
};

/*
 * Runs it in this process, a container of YARN (CONTAINER_ID, HADOOP_TOKEN_FILE_LOCATION), and returns the exit status.
 * Errors are logged.
 */
int executor_launcher_run(const struct executor_launcher_options *options);
