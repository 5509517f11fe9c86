/*
 * Finds the addresses of a process's custom resources (GPUs, …): in a file written by its starter, or from a discovery
 * script, as Spark's ResourceUtils does.
 *
 *      spark.executor.resource.gpu.amount=2
 *      spark.executor.resource.gpu.discoveryScript=/opt/gpus.sh      prints {"name": "gpu", "addresses": ["0", "1"]}
 */
#pragma once

#include "exec/executor_resources.h"

struct buf;
struct fst_conf;

/*
 * Adds to @resources (which may hold those of a file) every resource under @prefix ("spark.executor.resource.") of
 * @conf that is missing. Runs scripts and waits for them. Returns -EINVAL with @error, which names key or script, if
 * there are too few addresses, or if a script is missing, fails, or prints something else.
 */
int resource_discover(const struct fst_conf *conf, const char *prefix, struct executor_resources *resources,
                      struct fst_error *error);

/*
 * Reads a script's output about the resource @name: {"name": "gpu", "addresses": ["0", "1"]}. Returns 0 and *@resource,
 * which the caller owns, or -EINVAL with @error.
 */
int resource_discovery_read(const char *script, const char *name, const struct buf *out, Firesteel__Resource **resource,
                            struct fst_error *error);

/* Returns the whole number "<prefix><name>.amount" of @conf, 0 if it is not set, or -EINVAL with @error. */
int64_t resource_amount(const struct fst_conf *conf, const char *prefix, const char *name, struct fst_error *error);

/* Returns the resource @name, or NULL. */
const Firesteel__Resource *resource_find(const struct executor_resources *resources, const char *name);
