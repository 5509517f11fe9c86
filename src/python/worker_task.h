/*
 * The head of a task on the socket of a PySpark worker: everything before the rows. Pure.
 *
 * The layout depends on the version of the worker's pyspark package: 3.5 and 4.0, 4.1, 4.2, 4.3 each differ. Older
 * versions are written as 3.5, newer ones as 4.3. Numbers are big-endian.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct strmap;

/* Signals in place of lengths. */
#define PYTHON_END_OF_DATA (-1)
#define PYTHON_EXCEPTION (-2)
#define PYTHON_TIMINGS (-3)
#define PYTHON_END_OF_STREAM (-4)
#define PYTHON_NULL (-5)
#define PYTHON_MESSAGE (-8)

/* A version as a number: 403 for "4.3.1". */
#define PYTHON_VERSION(major, minor) ((major)*100 + (minor))

/* Returns the number of "4.3.0", "4.2.0.dev0"; 0 if @text is not a version. */
int python_version_parse(const char *text);

struct python_resource {
        const char *name; /* "gpu" */
        const char *const *addresses;
        size_t n;
};

/* A broadcast variable that the worker gets or forgets. */
struct python_broadcast {
        int64_t id;
        const char *path; /* of a file with its value; unused with python_task.broadcast_secret */
        bool forget;
};

/* All texts are borrowed. Lists may be NULL if their count is 0. */
struct python_task {
        int version;        /* of the worker's pyspark: PYTHON_VERSION */
        int split;          /* the partition of the RDD that the function computes */
        const char *python; /* the driver's Python: "3.11" */
        int stage, partition, attempt;
        int64_t task_id;
        int cpus;
        bool barrier;
        int barrier_port;           /* where the task's barrier server listens */
        const char *barrier_secret; /* NULL: none */
        const struct python_resource *resources;
        size_t n_resources;
        const struct strmap *properties; /* local properties; NULL: none */
        const char *files;               /* the directory of the application's files */
        const char *const *includes;     /* names of archives in it, for sys.path */
        size_t n_includes;
        const struct python_broadcast *broadcasts;
        size_t n_broadcasts;
        int broadcast_port;           /* where the worker gets the values instead of files, if there is a secret */
        const char *broadcast_secret; /* NULL: values are in files */
        const void *command;
        size_t command_len;
};

/* Appends the head of @task. The command must be shorter than 2 GiB. */
void python_task_write(const struct python_task *task, struct buf *out);

/* Append an int, a long, and a text with its length. */
void python_put_int(struct buf *out, int32_t x);
void python_put_long(struct buf *out, int64_t x);
void python_put_text(struct buf *out, const char *text);
