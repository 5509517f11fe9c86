/*
 * The REST submission server of a standalone master (port 6066): genuine spark-submit --deploy-mode cluster submits,
 * queries and kills drivers here. rest/rest_server.h has the protocol.
 *
 * Requests go to the master through `struct rest_master_ops`; the reply leaves when the master has answered.
 *
 *      master_rest_new(&conf, "spark://h:7077", &ops, master, &rest, error);
 *      rest_server_listen(master_rest_server(rest), loop, "h", error);
 *      …
 *      master_rest_free(rest);          after the master, which may still answer until then
 */
#pragma once

#include "rest/rest_server.h"
#include "standalone/core/master_core.h"

struct fst_conf;
struct fst_error;
struct master_rest;
struct master_server;

/* Receives the result of a request to the master; @reply is borrowed. */
typedef void rest_replied(void *context, const struct master_reply *reply);

/* The functions of these names in master_server.h. */
struct rest_master_ops {
        /* Read-only (master_state.h). */
        const struct master *(*state)(const struct master_server *master);
        /* Each calls @replied once, at once or later. Never if the master ends before. */
        void (*submit)(struct master_server *master, const struct driver_spec *driver, rest_replied *replied,
                       void *context);
        void (*kill)(struct master_server *master, const char *driver_id, rest_replied *replied, void *context);
        void (*kill_all)(struct master_server *master, rest_replied *replied, void *context);
        void (*clear)(struct master_server *master, rest_replied *replied, void *context);
};

/* @conf (spark.master.rest.*) and @ops are borrowed; @master_url is passed to drivers. -EINVAL with @error as
 * rest_server_new, and for spark.master.rest.port.
 */
int master_rest_new(const struct fst_conf *conf, const char *master_url, const struct rest_master_ops *ops,
                    struct master_server *master, struct master_rest **out, struct fst_error *error);
void master_rest_free(struct master_rest *m); /* NULL is allowed */

/* The server, to listen with and to ask for its port. */
struct rest_server *master_rest_server(struct master_rest *m);
