/*
 * Runs the driver of a Python program: starts the Py4J server in this process, and Python as its child; or, if Python
 * has started us, tells it the port and serves until it ends.
 *
 * It is the counterpart of Spark's PythonRunner and PythonGatewayServer.
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

struct python_driver {
        const char *file;     /* the program; NULL: Python has started this process ("pyspark-shell") */
        const char *py_files; /* comma-separated .py, .zip and .egg files for its PYTHONPATH; NULL: none */
        char *const *pyspark; /* zip files for a Python that lacks pyspark; ends with NULL; NULL: none */
        char *const *arguments;
        size_t n;
        struct fst_conf *conf; /* the settings of spark-submit; live as long as the process */
};

/*
 * Runs the driver to its end. Call it before threads start. Returns 0 with the exit status of the program in *@status
 * (128 + signal if one killed it), or negative with @error.
 */
int python_driver_run(const struct python_driver *driver, int *status, struct fst_error *error);
