/*
 * Which addresses of custom resources (GPUs, …) a process has: from a file that whoever started it wrote, or by asking
 * a discovery script, as Spark's ResourceUtils does.
 *
 *      spark.executor.resource.gpu.amount=2
 *      spark.executor.resource.gpu.discoveryScript=/opt/gpus.sh      prints {"name": "gpu", "addresses": ["0", "1"]}
 */
#pragma once

#include "exec/executor_resources.h"

struct buf;
struct fst_conf;

/*
 * Add to @resources (which may hold what a file said) every resource that @conf asks for under @prefix
 * ("spark.executor.resource.") and that is not there yet. Scripts are run, and waited for. -EINVAL with @error, which
 * names key or script, when fewer addresses are there than asked for, or a script is missing, fails, or prints
 * something else.
 */
int resource_discover(const struct fst_conf *conf, const char *prefix, struct executor_resources *resources,
                      struct fst_error *error);

/*
 * Read what @script printed about the resource @name: {"name": "gpu", "addresses": ["0", "1"]}. 0 and *@resource, which
 * the caller owns, or -EINVAL with @error.
 */
int resource_discovery_read(const char *script, const char *name, const struct buf *out, Firesteel__Resource **resource,
                            struct fst_error *error);

/* The number @conf asks for as "<prefix><name>.amount": a whole number. -EINVAL with @error; 0, also if it is not set:
 * none. */
int64_t resource_amount(const struct fst_conf *conf, const char *prefix, const char *name, struct fst_error *error);

/* The addresses of the resource, or NULL. */
const Firesteel__Resource *resource_find(const struct executor_resources *resources, const char *name);
