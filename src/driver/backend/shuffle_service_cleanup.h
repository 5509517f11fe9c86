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
struct shuffle_service_cleanup;

/*
 * @app_id is borrowed. *@cleanup is NULL if there is no shuffle service (spark.shuffle.service.enabled). 0, or
 * negative with @error.
 */
int shuffle_service_cleanup_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                                struct shuffle_service_cleanup **cleanup, struct fst_error *error);

/* An output that nobody needs: told soon, with others. On the loop's thread. */
void shuffle_service_cleanup_add(struct shuffle_service_cleanup *cleanup, const char *host, int port,
                                 const char *executor_id, int shuffle, int map_partition, int64_t task_id);

/* The application has ended, and nobody else tells this service. Blocks; what fails is logged. */
void shuffle_service_cleanup_end(struct shuffle_service_cleanup *cleanup, const char *host, int port);

/* The loop has run to its end. NULL is allowed. */
void shuffle_service_cleanup_free(struct shuffle_service_cleanup *cleanup);
