/* Load for a standalone master: any number of simulated workers and applications, as connections from one process.
 * They send what real ones send but start nothing.
 *
 *      cluster_load_new("127.0.0.1", 7077, &load, &error);
 *      cluster_load_workers(load, 10000, 4, &seconds, &error);         connected and registered
 *      cluster_load_apps(load, 1, 10000, &seconds, &error);            one application, 10,000 executors: all RUNNING
 *      cluster_load_beat(load, 15000, 30000, &error);                  heartbeats, for half a minute
 *      cluster_load_free(load);
 *
 * The calls block until their work is done: use them for measurements, not on an event loop.
 */
#pragma once

#include <stdint.h>

struct cluster_load;
struct fst_error;

/* The master has an IPv4 or IPv6 address. Returns 0, or negative with @error. */
int cluster_load_new(const char *host, int port, struct cluster_load **out, struct fst_error *error);
void cluster_load_free(struct cluster_load *l); /* closes all connections; NULL is allowed */

/* Connects @n workers of @cores cores each. *@seconds: from the first connection to the last registration. */
int cluster_load_workers(struct cluster_load *l, int n, int cores, double *seconds, struct fst_error *error);

/* Registers @n applications that want @executors executors of one core each, over connections made before. *@seconds:
 * from the first registration until the last worker got its launch command and the last application heard RUNNING.
 */
int cluster_load_apps(struct cluster_load *l, int n, int executors, double *seconds, struct fst_error *error);

/* Unregisters all applications. *@seconds: until the workers of all executors were told to end them; *@told: the
 * number of messages to workers until then that an application has ended.
 */
int cluster_load_end(struct cluster_load *l, double *seconds, int *told, struct fst_error *error);

/* Each worker sends a heartbeat every @interval_ms for @ms. The workers are spread evenly. */
int cluster_load_beat(struct cluster_load *l, int64_t interval_ms, int64_t ms, struct fst_error *error);
