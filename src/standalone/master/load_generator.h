/*
 * Load for a standalone master: as many workers as are asked for and their applications, as connections only, from one
 * process. What they say is what workers and applications say; they start nothing.
 *
 *      cluster_load_new("127.0.0.1", 7077, &load, &error);
 *      cluster_load_workers(load, 10000, 4, &seconds, &error);         connected and registered
 *      cluster_load_apps(load, 1, 10000, &seconds, &error);            one application, 10,000 executors: all RUNNING
 *      cluster_load_beat(load, 15000, 30000, &error);                  heartbeats, for half a minute
 *      cluster_load_free(load);
 *
 * Everything happens within the calls, which block: for measuring, not for a loop.
 */
#pragma once

#include <stdint.h>

struct cluster_load;
struct fst_error;

/* A master at an IPv4 or IPv6 address. 0, or negative with @error. */
int cluster_load_new(const char *host, int port, struct cluster_load **out, struct fst_error *error);
void cluster_load_free(struct cluster_load *l); /* closes all connections; NULL is allowed */

/* Connect @n workers of @cores cores each. *@seconds from the first connection to the last registration. */
int cluster_load_workers(struct cluster_load *l, int n, int cores, double *seconds, struct fst_error *error);

/*
 * @n applications that want @executors executors of one core each. *@seconds from the first registration to the last
 * executor that its worker was told to launch and its application was told to be RUNNING. The applications' connections
 * are made before.
 */
int cluster_load_apps(struct cluster_load *l, int n, int executors, double *seconds, struct fst_error *error);

/*
 * All applications end by their own wish. *@seconds until every executor's worker was told to end it; *@told: how often
 * workers were told until then that an application has ended.
 */
int cluster_load_end(struct cluster_load *l, double *seconds, int *told, struct fst_error *error);

/* Each worker sends a heartbeat every @interval_ms, evenly spread, for @ms. */
int cluster_load_beat(struct cluster_load *l, int64_t interval_ms, int64_t ms, struct fst_error *error);
