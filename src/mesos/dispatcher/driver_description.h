/*
 * A submission to a Mesos dispatcher: its bytes in records, and what the core of the dispatcher knows of it. Pure.
 *
 * A description is a `struct rest_request`: resource, class, arguments, properties and environment as the client sent
 * them.
 */
#pragma once

#include "mesos/dispatcher/dispatcher_core.h"

struct fst_error;
struct rest_request;

/* The bytes of @q, which the caller owns. */
void *driver_description_pack(const struct rest_request *q, size_t *size);

/* Returns 0, or -EBADMSG with @error and an empty @q. rest_request_deinit releases @q. */
int driver_description_unpack(struct rest_request *q, const void *data, size_t size, struct fst_error *error);

/*
 * What @q asks for: @spec, borrowed from @q except for its constraints, and without a body. Refuses with -EINVAL and
 * @error, which names the key: invalid numbers, an invalid constraint, a queue that @config does not have. NULL for
 * @config allows every queue.
 *
 * The task's memory is, as in Spark, spark.driver.memory with the overhead twice: driver_description_memory is what the
 * driver is told, and the task has an overhead on top of that.
 */
int driver_description_spec(const struct rest_request *q, const struct dispatcher_config *config,
                            struct mesos_driver_spec *spec, struct fst_error *error);

/* The MiB of --driver-memory. -EINVAL with @error as above. */
int driver_description_memory(const struct rest_request *q, int64_t *mib, struct fst_error *error);

/* The property or @fallback, which may be NULL. Borrowed. */
const char *driver_description_get(const struct rest_request *q, const char *key, const char *fallback);
