/*
 * The REST submission server of a standalone master (port 6066): genuine spark-submit --deploy-mode cluster submits to
 * it, asks and kills.
 *
 *      POST /v1/submissions/create            CreateSubmissionRequest
 *      POST /v1/submissions/kill/ID           POST /v1/submissions/killall
 *      GET  /v1/submissions/status/ID         GET  /v1/submissions/readyz
 *      POST /v1/submissions/clear             forget what has ended
 *
 * With spark.firesteel.rest.token clients must send "Authorization: Bearer TOKEN". Without it, and without a filter
 * that asks for a token, everybody who reaches the port may start code here; the server warns at its start if
 * spark.authenticate is on.
 *
 * Requests, answers and the status codes of HTTP are those of Spark 4.3 (200 whenever the protocol was kept; 400, 413,
 * 468 for another version of it, 503 for readyz of a master in standby). What a request asks for goes to the master by
 * `struct rest_master_ops`; its answer leaves when the master has answered.
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

/* What became of a request to the master; @reply is borrowed. */
typedef void rest_replied(void *context, const struct master_reply *reply);

/* A master, for its REST server: the functions of these names in master_server.h. */
struct rest_master_ops {
        /* To look at (master_state.h). */
        const struct master *(*state)(const struct master_server *master);
        /* Each answers once, by @replied, at once or later; never if the master ends before. */
        void (*submit)(struct master_server *master, const struct driver_spec *driver, rest_replied *replied,
                       void *context);
        void (*kill)(struct master_server *master, const char *driver_id, rest_replied *replied, void *context);
        void (*kill_all)(struct master_server *master, rest_replied *replied, void *context);
        void (*clear)(struct master_server *master, rest_replied *replied, void *context);
};

/*
 * @conf (spark.master.rest.*) and @ops are borrowed; @master_url is what drivers are told. -EINVAL with @error naming
 * the key: an invalid pattern, number or token, an unknown filter, a token beside JWSFilter.
 */
int rest_server_new(const struct fst_conf *conf, const char *master_url, const struct rest_master_ops *ops,
                    struct master_server *master, struct rest_server **out, struct fst_error *error);
void rest_server_free(struct rest_server *s); /* NULL is allowed */

/* On spark.master.rest.host, or @host, and spark.master.rest.port, or one of the next. Negative with @error. */
int rest_server_listen(struct rest_server *s, uv_loop_t *loop, const char *host, struct fst_error *error);
int rest_server_port(const struct rest_server *s);

/* ---------------------------------------------------------------------------- one request, without a connection */

struct rest_call {
        const char *method, *path; /* as it came, without the query */
        const char *body;
        size_t body_len;
        const char *authorization, *content_type, *origin; /* headers; NULL: absent */
};

/* @json is the content of the answer, which the function takes; @allow: methods, for the status 405; else NULL. */
typedef void rest_answered(void *context, int status, char *json, const char *allow);

/*
 * Refuses a call without the token of spark.firesteel.rest.token (401; readyz needs none), a POST of another origin
 * than this server (403), and a POST whose content is not application/json (415): pages in a browser can send only
 * such.
 * @answered is called once, at once or later; never if the master does not answer.
 */
void rest_server_handle(struct rest_server *s, const struct rest_call *call, rest_answered *answered, void *context);
