/*
 * Asks shuffle services, on threads of the loop's pool, to remove unneeded map outputs of executors that are gone
 * (spark.shuffle.service.removeShuffle), and sends heartbeats to those that must remove the application's files if this
 * driver is killed.
 */
#pragma once

#include <stdint.h>
#include <uv.h>

struct fst_conf;
struct fst_error;
struct shuffle_service_cleanup;

/*
 * Borrows @app_id. Its owner closes all handles of the loop. *@cleanup is NULL without a shuffle service
 * (spark.shuffle.service.enabled). Returns 0, or a negative status with @error.
 */
int shuffle_service_cleanup_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                                struct shuffle_service_cleanup **cleanup, struct fst_error *error);

/* Remove an output soon, together with others. On the loop's thread. */
void shuffle_service_cleanup_add(struct shuffle_service_cleanup *cleanup, const char *host, int port,
                                 const char *executor_id, int shuffle, int map_partition, int64_t task_id);

/*
 * Send heartbeats to a service from now on, each spark.executor.heartbeatInterval. Does nothing for one that gets them.
 * A service that was out of reach for spark.storage.blockManagerHeartbeatTimeoutMs gets no more. On the loop's thread.
 */
void shuffle_service_cleanup_watch(struct shuffle_service_cleanup *cleanup, const char *host, int port);

/* Begin no more heartbeats, so that the loop ends soon. NULL is allowed. */
void shuffle_service_cleanup_stop(struct shuffle_service_cleanup *cleanup);

/* Report the end of the application to a service that only the driver informs. Blocks. Logs failures. */
void shuffle_service_cleanup_end(struct shuffle_service_cleanup *cleanup, const char *host, int port);

/* Called after the loop has ended, which has closed the timer of the heartbeats. NULL is allowed. */
void shuffle_service_cleanup_free(struct shuffle_service_cleanup *cleanup);
