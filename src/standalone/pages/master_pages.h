/*
 * The pages of a standalone master (port 8080), its JSON and metrics.
 *
 *      /                      workers, applications and drivers, with buttons that end them
 *      /app/?appId=ID         an application: its executors and links to their logs
 *      /environment/          the configuration, secrets left out
 *      /logPage/?self&logType=out  /log/…    the master's own log: log_pages.h
 *      /proxy/ID/…            with spark.ui.reverseProxy: the pages of a worker or application (web/proxy.h)
 *      /json/  /json/FIELD  /json/clusterutilization  /app/json/?appId=ID
 *      /metrics/master/json  /metrics/applications/json, and …/prometheus
 *      POST /app/kill/  /driver/kill/       id=ID&terminate=true  (spark.ui.killEnabled, spark.modify.acls)
 *      POST /workers/kill/                  host=H&host=…  (spark.decommission.enabled)
 *
 * Each page shows the master's state at that moment and is built in one loop iteration: some 10 ms for 10,000 workers.
 */
#pragma once

#include "standalone/core/master_core.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct master_pages;
struct master_server;

/* The functions of these names in master_server.h. */
struct master_pages_ops {
        const struct master *(*state)(const struct master_server *master);
        int64_t (*now)(void); /* the core's time */
        bool (*kill_app)(struct master_server *master, const char *app_id);
        /* Calls @replied once, at once or later. Never if the master ends before. */
        void (*kill_driver)(struct master_server *master, const char *driver_id,
                            void (*replied)(void *context, const struct master_reply *reply), void *context);
        int (*decommission)(struct master_server *master, const char *const *hosts, int n);
};

struct master_pages_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        const char *host;            /* to listen on; NULL: SPARK_LOCAL_IP, or all addresses */
        int port;
        const char *master_url; /* "spark://host:7077"; borrowed */
        const char *rest_url;   /* "spark://host:6066"; NULL: no REST server; borrowed */
        const struct master_pages_ops *ops;
        struct master_server *master;
};

/* Listens. Returns 0, or negative with @error. */
int master_pages_new(const struct master_pages_options *options, struct master_pages **out, struct fst_error *error);

/* Call it after the master is closed, which may still answer until then. NULL is allowed. */
void master_pages_free(struct master_pages *p);

int master_pages_port(const struct master_pages *p);
bool master_pages_are_secure(const struct master_pages *p); /* https */
