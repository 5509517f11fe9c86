/*
 * Custom resources that an executor was given (GPUs, …): --resourcesFile, as Spark's workers and containers write it.
 */
#pragma once

#include "rpc/control.pb-c.h"

struct fst_error;

struct executor_resources {
        Firesteel__Resource **list;
        size_t n;
};

/*
 * Read a file of [{"id": {"resourceName": "gpu"}, "addresses": ["0", "1"]}, …]; NULL gives none. Negative with @error,
 * which names file and place, for what is no such file.
 */
int executor_resources_read(const char *path, struct executor_resources *out, struct fst_error *error);

/*
 * Write them as such a file, for a process of the component "spark.executor" or "spark.driver", replacing what is at
 * @path. Negative with @error.
 */
int executor_resources_write(const struct executor_resources *resources, const char *component, const char *path,
                             struct fst_error *error);

/* One of them, from a JSON array of strings. */
struct json_t;
Firesteel__Resource *executor_resource_new(const char *name, const struct json_t *addresses);

void executor_resources_deinit(struct executor_resources *resources);
