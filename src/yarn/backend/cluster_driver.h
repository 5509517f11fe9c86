/*
 * The ApplicationMaster of cluster mode: runs the driver of a native application in this process, a container of YARN,
 * and unregisters the application with what became of it. A program in Python or R runs as a child of this process,
 * which is its driver (pyspark_driver/python_driver.h, sparkr/sparkr.h). The application's executor manager
 * (yarn_cluster_manager.h) registers with the ResourceManager when the context starts.
 *
 * After a failure YARN starts another attempt if there may be one; then the application is not unregistered, and its
 * staging directory, if it has one, stays.
 */
#pragma once

#include <stddef.h>

struct cluster_driver_options {
        const char *application; /* the shared object; NULL: a program in Python or R */
        const char *entry;       /* name of the function */
        const char *python;      /* the program in Python */
        const char *r;           /* the program in R */
        char *const *pyspark;    /* zip files for a Python that lacks pyspark; ends with NULL */
        char *const *arguments;
        size_t n;
        const char *properties_file; /* Spark's configuration */
        const char *cache_file;      /* the files that the submission has distributed */
};

/* Runs it, logs errors, and returns the exit status (executor_launcher.h). */
int cluster_driver_run(const struct cluster_driver_options *options);
