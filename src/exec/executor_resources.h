/* An executor's custom resources (GPUs, …): --resourcesFile, in the format of Spark's workers and containers. */
#pragma once

#include "rpc/control.pb-c.h"

struct fst_error;

struct executor_resources {
        Firesteel__Resource **list;
        size_t n;
};

/*
 * Reads a file of [{"id": {"resourceName": "gpu"}, "addresses": ["0", "1"]}, …]; NULL gives none. Returns negative with
 * @error, which names file and position, for any other content.
 */
int executor_resources_read(const char *path, struct executor_resources *out, struct fst_error *error);

/*
 * Writes the resources as such a file, for a process of the component "spark.executor" or "spark.driver". Replaces the
 * file at @path. Returns negative with @error.
 */
int executor_resources_write(const struct executor_resources *resources, const char *component, const char *path,
                             struct fst_error *error);

/* Makes one resource from a JSON array of strings. */
struct json_t;
Firesteel__Resource *executor_resource_new(const char *name, const struct json_t *addresses);

void executor_resources_deinit(struct executor_resources *resources);
