/*
 * A client of shuffle services: fetches map outputs, registers directories, and releases outputs that are not needed
 * any more. Functions with a host and port block: call them on any thread except a loop's.
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
 * Creates a client for the application @app_id (borrowed, as long as the client), with @connections to each service.
 * With spark.authenticate its connections prove the cluster's secret. Returns 0, or negative with @error.
 */
int service_client_new(const struct fst_conf *conf, const char *app_id, int connections, struct service_client **client,
                       struct fst_error *error);

/* NULL is allowed. */
void service_client_free(struct service_client *client);

/* Returns the client for fetching. Borrowed. */
struct transfer_client *service_client_transfers(const struct service_client *client);

/*
 * Registers @dirs, which hold the map outputs of executor @executor_id, in up to spark.shuffle.registration.maxAttempts
 * attempts.
 */
int service_client_register(struct service_client *client, const char *host, int port, const char *executor_id,
                            const struct disk_dirs *dirs, int subdirectories, struct fst_error *error);

/* Outputs of @executor_id that are not needed any more. */
struct released_output {
        int32_t shuffle, map_partition;
        int64_t task_id;
};

int service_client_remove(struct service_client *client, const char *host, int port, const char *executor_id,
                          const struct released_output *outputs, size_t n, struct fst_error *error);

/* Tells that the driver lives. If it is silent for @timeout_ms, the service releases what the application left. */
int service_client_heartbeat(struct service_client *client, const char *host, int port, int64_t timeout_ms,
                             struct fst_error *error);

/* Releases everything that the application left. */
int service_client_end_application(struct service_client *client, const char *host, int port, struct fst_error *error);
