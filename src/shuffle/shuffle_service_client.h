/*
 * A client of shuffle services: to fetch map outputs with, and to tell them where outputs are and what nobody needs any
 * more. What tells blocks: on any thread but a loop's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct disk_dirs;
struct fst_conf;
struct fst_error;
struct service_client;
struct transfer_client;

/*
 * For the application @app_id (borrowed, as long as the client), with @connections to each service. With
 * spark.authenticate its connections prove the cluster's secret. 0, or negative with @error.
 */
int service_client_new(const struct fst_conf *conf, const char *app_id, int connections, struct service_client **client,
                       struct fst_error *error);

/* NULL is allowed. */
void service_client_free(struct service_client *client);

/* To fetch with. Borrowed. */
struct transfer_client *service_client_transfers(const struct service_client *client);

/* Executor @executor_id has its map outputs in @dirs. spark.shuffle.registration.maxAttempts times. */
int service_client_register(struct service_client *client, const char *host, int port, const char *executor_id,
                            const struct disk_dirs *dirs, int subdirectories, struct fst_error *error);

/* Nobody needs these outputs of @executor_id any more. */
struct kept_output {
        int32_t shuffle, map_partition;
        int64_t task_id;
};

int service_client_remove(struct service_client *client, const char *host, int port, const char *executor_id,
                          const struct kept_output *outputs, size_t n, struct fst_error *error);

/* All that the application left may go. */
int service_client_end_application(struct service_client *client, const char *host, int port, struct fst_error *error);
