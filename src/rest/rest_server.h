/*
 * The server of the REST submission protocol (rest_messages.h). A standalone master (port 6066) and a Mesos dispatcher
 * (port 7077) answer through a `struct rest_service`.
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
 * another protocol version, 503 for readyz of a server that is not ready).
 *
 *      rest_server_new(&conf, &service, owner, 6066, &server, error);
 *      rest_server_listen(server, loop, "h", error);
 *      …
 *      rest_server_free(server);
 */
#pragma once

#include "rest/rest_messages.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct rest_exchange;
struct rest_request;
struct rest_server;

/*
 * What a server does. Each function answers @x exactly once, at once or later, by rest_exchange_answer or
 * rest_exchange_refuse. It need not answer once the server is freed. NULL: this server has no such action.
 */
struct rest_service {
        const char *log_name; /* component of log lines: "StandaloneRestServer" */
        const char *actions;  /* "/create, /kill, or /status", for the message about a path without an action */
        const char *remedy;   /* how else the port can be closed: "spark.master.rest.enabled=false"; "": not at all */
        /* @request lives as long as @x. */
        void (*create)(void *owner, struct rest_exchange *x, const struct rest_request *request);
        void (*kill)(void *owner, struct rest_exchange *x, const char *id);
        void (*status)(void *owner, struct rest_exchange *x, const char *id);
        void (*kill_all)(void *owner, struct rest_exchange *x);
        void (*clear)(void *owner, struct rest_exchange *x);
        void (*readyz)(void *owner, struct rest_exchange *x);
};

/*
 * Answers with status 200. The caller sets success, message and the fields of the driver in @a, which the function
 * takes. It adds kind, submission id of the request (unless set), unknown fields and version. @x is gone afterwards.
 */
void rest_exchange_answer(struct rest_exchange *x, struct rest_answer *a);

/* Answers with an ErrorResponse. @x is gone afterwards. */
void rest_exchange_refuse(struct rest_exchange *x, int status, const char *message);

/*
 * Refuses a submission with status 400 and the message of @error, and logs it if @r is -ENOTSUP: a driver that this
 * cluster does not run. For other @r than -ENOTSUP and -ENOMSG the message begins with "Malformed request: ".
 * Genuine spark-submit shows the message of an error response but ignores that of a CreateSubmissionResponse whose
 * success is false.
 */
void rest_exchange_refuse_create(struct rest_exchange *x, int r, const struct fst_error *error);

/* @conf (spark.master.rest.*), @service and @owner are borrowed. -EINVAL with @error naming the key: an invalid
 * pattern, number or token, an unknown filter, a token beside JWSFilter.
 */
int rest_server_new(const struct fst_conf *conf, const struct rest_service *service, void *owner, int port,
                    struct rest_server **out, struct fst_error *error);

/* Drops unanswered exchanges. NULL is allowed. */
void rest_server_free(struct rest_server *s);

/* Listens on spark.master.rest.host, or @host, and the port or one of the next ports. Negative with @error. */
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
 * @answered is called once, at once or later. Never if the service does not answer.
 */
void rest_server_handle(struct rest_server *s, const struct rest_call *call, rest_answered *answered, void *context);
