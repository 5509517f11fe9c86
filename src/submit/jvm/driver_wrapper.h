/*
 * A driver beside its worker: what `firesteel driver` is, Spark's DriverWrapper. It runs the application that its
 * worker has fetched, and ends when its worker is gone.
 *
 *      a native application    in this process
 *      a .jar                  as genuine Spark's spark-submit with local[CORES], a process of its own that ends with
 *                              this one: a JVM's driver could not register with our master. For those that asked for
 *                              it with spark.firesteel.standalone.jvm=local; the master refuses others.
 */
#pragma once

#include <stddef.h>

struct fst_error;

struct driver_wrapper_options {
        const char *properties_file; /* the configuration; NULL: none */
        const char *worker_url;      /* "spark://Worker@host:port" */
        const char *jar;             /* the application: a path */
        const char *main_class;
        char *const *arguments;
        size_t n;
};

/* Run it to its end: 0 with *@status, what to exit with; or negative with @error. The only thread of the process. */
int driver_wrapper_run(const struct driver_wrapper_options *options, int *status, struct fst_error *error);
