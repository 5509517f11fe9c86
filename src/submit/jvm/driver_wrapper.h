/*
 * `firesteel driver`: runs a driver under a standalone worker (Spark: DriverWrapper). It runs the application that the
 * worker fetched, and ends when the worker ends.
 *
 *      a native application    in this process
 *      a .jar                  as genuine Spark's spark-submit with local[CORES], in a child process that ends with
 * this one, because a JVM's driver cannot register with our master. Only for users who set
 *                              spark.firesteel.standalone.jvm=local. The master refuses other jars.
 */
#pragma once

#include <stddef.h>

struct fst_error;

struct driver_wrapper_options {
        const char *properties_file; /* the configuration, or NULL */
        const char *worker_url;      /* "spark://Worker@host:port" */
        const char *jar;             /* path of the application */
        const char *main_class;
        char *const *arguments;
        size_t n;
        int words_fd; /* carries the last message to the worker (FIRESTEEL_CRASH_FD); -1: none */
};

/*
 * Runs the driver to its end. Returns 0 with the exit status in *@status, or negative with @error. The process must
 * have no other threads.
 */
int driver_wrapper_run(const struct driver_wrapper_options *options, int *status, struct fst_error *error);
