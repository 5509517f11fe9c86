/*
 * The messages of Spark's REST submission protocol, version v1, between a client and a standalone master (port 6066) or
 * a Mesos dispatcher.
 *
 *      POST /v1/submissions/create         CreateSubmissionRequest    → CreateSubmissionResponse
 *      POST /v1/submissions/kill/ID        nothing                    → KillSubmissionResponse
 *      GET  /v1/submissions/status/ID      nothing                    → SubmissionStatusResponse
 *
 * Fields, their alphabetical order, layout and validation are those of Spark 4.3's SubmitRestProtocolMessage, as
 * Jackson reads and writes them: null counts as missing, unknown fields are ignored, numbers and booleans are accepted
 * as text.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct json_t json_t; /* as in <jansson.h> */
struct fst_error;

#define REST_PROTOCOL_VERSION "v1"
/* The bearer token of the server's clients. It is never sent with a driver's properties. */
#define REST_TOKEN_KEY "spark.firesteel.rest.token"
#define REST_SPARK_VERSION "4.3.0" /* the client's version */

/* All members are borrowed. */
struct rest_create {
        const char *app_resource; /* URI of the application */
        const char *main_class;   /* NULL: left out */
        char *const *app_args;    /* NULL elements are written as null */
        size_t n_app_args;
        const struct strmap *properties;
        const struct strmap *environment;
};

/*
 * Validates as Spark does before sending. Returns -EINVAL with "Validation of message CreateSubmissionRequest failed!
 * …" for a missing resource, or for invalid cores, memory or supervise.
 */
int rest_create_validate(const struct rest_create *c, struct fst_error *error);

/*
 * Returns 0, or -EINVAL with @error for a token that a header cannot hold: it must consist of visible ASCII characters
 * and must not be empty.
 */
int rest_token_check(const char *token, struct fst_error *error);

/* The request's body, without the property REST_TOKEN_KEY. Owned by the caller. */
char *rest_create_json(const struct rest_create *c);

/*
 * Copies the variables of @env (environ) that travel to the driver into @out: SPARK_* except SPARK_ENV_LOADED,
 * SPARK_HOME, SPARK_CONF_DIR, SPARK_LOCAL_IP and SPARK_LOCAL_HOSTNAME. With @compat (spark.firesteel.compat) "3.5" or
 * "2.4", the last two travel as well, and so do MESOS_*. @compat may be NULL.
 */
void rest_environment(char *const *env, const char *compat, struct strmap *out);

enum rest_kind {
        REST_CREATE,
        REST_KILL,
        REST_KILL_ALL,
        REST_STATUS,
        REST_CLEAR,
        REST_READYZ,
        REST_ERROR,
};

enum rest_truth { REST_UNSAID, REST_FALSE, REST_TRUE };

/* A reply. Texts are NULL if the reply lacks them, or if its kind has no such field. */
struct rest_answer {
        enum rest_kind kind;
        enum rest_truth success;
        char *driver_state; /* SUBMITTED, RUNNING, FINISHED, RELAUNCHING, UNKNOWN, KILLED, FAILED, ERROR */
        char *highest_protocol_version;
        char *message;
        char *server_spark_version;
        char *submission_id;
        char *worker_host_port;
        char *worker_id;
        bool has_unknown_fields; /* the server named fields of the request that it does not know: */
        VEC(char *) unknown_fields;
};

#define REST_ANSWER_INIT ((struct rest_answer){0})

void rest_answer_deinit(struct rest_answer *a);

/* "CreateSubmissionResponse", …: Spark's name of the type. */
const char *rest_answer_type(const struct rest_answer *a);

/*
 * Reads and validates a reply. Returns -EBADMSG with "Malformed response received from server: …" if it is not a JSON
 * object, has no action, lacks a required field or is a request, and -ENOMSG for an unknown type.
 */
int rest_answer_parse(struct rest_answer *a, const char *json, size_t length, struct fst_error *error);

/* As Spark writes it. Owned by the caller. */
char *rest_answer_json(const struct rest_answer *a);

/* Whether the message says that this master is not the leader, so the client must ask another one. */
bool rest_answer_from_backup(const struct rest_answer *a);

/*
 * Stores a field as text, owned by the caller: a text, or Jackson's text of a number or boolean. NULL for null or a
 * missing field. Returns false for lists and objects.
 */
bool rest_read_text(const json_t *value, char **out);
