/*
 * The REST submission server of a standalone master (port 6066): genuine spark-submit --deploy-mode cluster submits,
 * queries and kills drivers here.
 *
 *      POST /v1/submissions/create            CreateSubmissionRequest
 *      POST /v1/submissions/kill/ID           POST /v1/submissions/killall
 *      GET  /v1/submissions/status/ID         GET  /v1/submissions/readyz
 *      POST /v1/submissions/clear             forget ended applications and drivers
 *
 * With spark.firesteel.rest.token clients must send "Authorization: Bearer TOKEN". Without it, and without a filter
 * that asks for a token, anyone who reaches the port may start code here; the server warns at its start if
 * spark.authenticate is on.
 *
 * Requests, answers and HTTP status codes are those of Spark 4.3 (200 for every valid request; 400, 413, 468 for
 * another protocol version, 503 for readyz of a standby master). Requests go to the master through `struct
 * rest_master_ops`; the reply leaves when the master has answered.
 *
 *      rest_server_new(&conf, "spark://h:7077", &ops, master, &server, error);
 *      rest_server_listen(server, loop, "h", error);
 *      …
 *      rest_server_free(server);          after the master, which may still answer until then
 */
#pragma once

#include "standalone/core/master_core.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct master_server;
struct rest_server;

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

/* @conf (spark.master.rest.*) and @ops are borrowed; @master_url is passed to drivers. -EINVAL with @error naming the
 * key: an invalid pattern, number or token, an unknown filter, a token beside JWSFilter.
 */
int rest_server_new(const struct fst_conf *conf, const char *master_url, const struct rest_master_ops *ops,
                    struct master_server *master, struct rest_server **out, struct fst_error *error);
void rest_server_free(struct rest_server *s); /* NULL is allowed */

/* Listens on spark.master.rest.host, or @host, and spark.master.rest.port or one of the next ports. Negative with
 * @error.
 */
int rest_server_listen(struct rest_server *s, uv_loop_t *loop, const char *host, struct fst_error *error);
int rest_server_port(const struct rest_server *s);

/* ---------------------------------------------------------------------------- one request, without a connection */

struct rest_call {
        const char *method, *path; /* as received, without the query */
        const char *body;
        size_t body_len;
        const char *authorization, *content_type, *origin; /* headers; NULL: absent */
};

/* @json is the content of the answer, which the function takes; @allow: methods, for status 405; otherwise NULL. */
typedef void rest_answered(void *context, int status, char *json, const char *allow);

/*
 * Refuses a call without the token of spark.firesteel.rest.token (401; readyz needs none), a POST of another origin
 * than this server (403), and a POST whose content is not application/json (415): pages in a browser can send only
 * such.
 * @answered is called once, at once or later. Never if the master does not answer.
 */
void rest_server_handle(struct rest_server *s, const struct rest_call *call, rest_answered *answered, void *context);
