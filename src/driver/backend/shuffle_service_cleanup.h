/*
 * Map outputs of executors that are gone, which a shuffle service still has and nobody needs any more
 * (spark.shuffle.service.removeShuffle): the service is told, on a thread of the loop's pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct fst_conf;
struct fst_error;
struct service_removals;

/*
 * @app_id is borrowed. *@removals is NULL if there is no shuffle service (spark.shuffle.service.enabled). 0, or
 * negative with @error.
 */
int service_removals_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                         struct service_removals **removals, struct fst_error *error);

/* An output that nobody needs: told soon, with others. On the loop's thread. */
void service_removals_add(struct service_removals *removals, const char *host, int port, const char *executor_id,
                          int shuffle, int map_partition, int64_t task_id);

/* The application has ended, and nobody else tells this service. Blocks; what fails is logged. */
void service_removals_end(struct service_removals *removals, const char *host, int port);

/* The loop has run to its end. NULL is allowed. */
void service_removals_free(struct service_removals *removals);
