/*
 * The messages of Spark's REST submission protocol, version v1: what a client sends to a standalone master (its port
 * 6066) or a Mesos dispatcher, and what they answer.
 *
 *      POST /v1/submissions/create         CreateSubmissionRequest    → CreateSubmissionResponse
 *      POST /v1/submissions/kill/ID        nothing                    → KillSubmissionResponse
 *      GET  /v1/submissions/status/ID      nothing                    → SubmissionStatusResponse
 *
 * Fields, their order (by the alphabet), layout and validation are those of Spark 4.3's SubmitRestProtocolMessage, as
 * Jackson writes and reads them: null is as if nothing had been said, unknown fields are passed over, numbers and
 * truths are taken where a text is expected.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct json_t json_t; /* as <jansson.h> has it */
struct fst_error;

#define REST_PROTOCOL_VERSION "v1"
/* The bearer token of the server's clients; it is never sent with the properties of a driver. */
#define REST_TOKEN_KEY "spark.firesteel.rest.token"
#define REST_SPARK_VERSION "4.3.0" /* what a client says it is */

/* Everything is borrowed. */
struct rest_create {
        const char *app_resource; /* URI of the application */
        const char *main_class;   /* NULL: left out */
        char *const *app_args;    /* NULL among them is written as null */
        size_t n_app_args;
        const struct strmap *properties;
        const struct strmap *environment;
};

/*
 * Check it as Spark does before it sends: -EINVAL with "Validation of message CreateSubmissionRequest failed! …"
 * for a missing resource, or cores, memory and supervise that cannot be read.
 */
int rest_create_validate(const struct rest_create *c, struct fst_error *error);

/*
 * 0, or -EINVAL with @error for a token that no header can hold: only visible ASCII characters do, and there must be
 * one.
 */
int rest_token_check(const char *token, struct fst_error *error);

/* The request's body, without the property REST_TOKEN_KEY. The caller owns it. */
char *rest_create_json(const struct rest_create *c);

/*
 * What of the environment @env (environ) travels to the driver, into @out: SPARK_* but SPARK_ENV_LOADED, SPARK_HOME,
 * SPARK_CONF_DIR, SPARK_LOCAL_IP and SPARK_LOCAL_HOSTNAME. @compat (spark.firesteel.compat) "3.5" or "2.4" sends the
 * last two as well, and MESOS_*; else NULL or anything.
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

/* An answer. Texts are NULL where nothing was said, or where this kind has no such field. */
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
        bool has_unknown_fields; /* the server named fields of the request that it did not know: */
        VEC(char *) unknown_fields;
};

#define REST_ANSWER_INIT ((struct rest_answer){0})

void rest_answer_deinit(struct rest_answer *a);

/* "CreateSubmissionResponse", …, Spark's name of the type. */
const char *rest_answer_type(const struct rest_answer *a);

/*
 * Read and validate an answer. -EBADMSG with "Malformed response received from server: …" for what is no JSON object,
 * has no action, lacks a field that this kind must have, or is a request; -ENOMSG for a type that there is not.
 */
int rest_answer_parse(struct rest_answer *a, const char *json, size_t length, struct fst_error *error);

/* As Spark writes it. The caller owns it. */
char *rest_answer_json(const struct rest_answer *a);

/* Whether the message says that this master is no leader, so that another one must be asked. */
bool rest_answer_from_backup(const struct rest_answer *a);

/*
 * A field as text, which the caller owns: a text, or what Jackson makes one of (a number, a truth); NULL: null or
 * missing. False for lists and objects.
 */
bool rest_read_text(const json_t *value, char **out);
