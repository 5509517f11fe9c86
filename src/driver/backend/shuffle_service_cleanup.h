/*
 * Asks a shuffle service, on a thread of the loop's pool, to remove unneeded map outputs of executors that are gone
 * (spark.shuffle.service.removeShuffle).
 */
#pragma once

#include <stdint.h>
#include <uv.h>

struct fst_conf;
struct fst_error;
struct shuffle_service_cleanup;

/*
 * Borrows @app_id. *@cleanup is NULL without a shuffle service (spark.shuffle.service.enabled). Returns 0, or a
 * negative status with @error.
 */
int shuffle_service_cleanup_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                                struct shuffle_service_cleanup **cleanup, struct fst_error *error);

/* Remove an output soon, together with others. On the loop's thread. */
void shuffle_service_cleanup_add(struct shuffle_service_cleanup *cleanup, const char *host, int port,
                                 const char *executor_id, int shuffle, int map_partition, int64_t task_id);

/* Report the end of the application to a service that only the driver informs. Blocks. Logs failures. */
void shuffle_service_cleanup_end(struct shuffle_service_cleanup *cleanup, const char *host, int port);

/* Called after the loop has ended. NULL is allowed. */
void shuffle_service_cleanup_free(struct shuffle_service_cleanup *cleanup);
