/*
 * The client of Spark's REST submission protocol. It submits, queries and kills applications at a standalone master
 * (spark://HOST:PORT[,HOST:PORT…], the port of its REST server, 6066) or a Mesos dispatcher (mesos://HOST:PORT).
 *
 *      rest_submit(&submission, …)             spark-submit with RestSubmissionClientApp
 *      rest_kill(master, id, …)                spark-submit --kill
 *      rest_status(master, id, …)              spark-submit --status
 *
 * These three print the lines of Spark's client to the log and to standard error. Programs that want the replies hold a
 * client:
 *
 *      struct rest_client *client;
 *      rest_client_new("spark://a:6066,b:6066", &client, error);
 *      r = rest_client_create(client, &request, &answer, error);
 *      r = rest_client_wait(client, answer.submission_id, &waiting, &state, error);
 *      rest_client_free(client);
 *
 * The client tries the masters in the order of the list until one accepts the request, as Spark does. Connections stay
 * open. It uses net/http/http_plain.h instead of a library, because the protocol knows only plain HTTP and a waiting
 * client stays small.
 *
 * One thread at a time. All functions block and check *@stopped (atomic) if it is set.
 */
#pragma once

#include "rest/rest_messages.h"

#include <stdint.h>

struct fst_error;
struct rest_client;
struct submission;

/* No master is reachable, or none replies as a REST server. */
#define FST_REST_E_NO_SERVER 1

/* Returns 0 and a client, or -EINVAL for a URL that is not spark:// or mesos://, or has no host and port. */
int rest_client_new(const char *master, struct rest_client **out, struct fst_error *error);
void rest_client_free(struct rest_client *client); /* NULL is allowed */

/* If *@stopped is not 0, calls end early with -ECANCELED. NULL disables this. */
void rest_client_set_stopped(struct rest_client *client, const int *stopped);

/*
 * Sends @token (REST_TOKEN_KEY; NULL: none) with each request. Returns 0, or -EINVAL with @error if a header cannot
 * hold it. The token is not encrypted: without TLS, anyone who can read the connection can read it.
 */
int rest_client_set_token(struct rest_client *client, const char *token, struct fst_error *error);

/*
 * Send a request. *@answer (REST_ANSWER_INIT before) receives any reply. Returns 0 for a reply: answer->success says
 * whether the master did what was requested, and the kind REST_ERROR is the server's refusal. Returns
 * FST_REST_E_NO_SERVER with @error, or negative with @error: -EINVAL the request is invalid (its validation, or an id
 * that a URL cannot contain), -EBADMSG, -ENOMSG, -EMSGSIZE or -ENODATA the reply is invalid, -ECANCELED.
 */
int rest_client_create(struct rest_client *client, const struct rest_create *request, struct rest_answer *answer,
                       struct fst_error *error);
int rest_client_kill(struct rest_client *client, const char *id, struct rest_answer *answer, struct fst_error *error);

/* @quiet: do not log the reply. */
int rest_client_status(struct rest_client *client, const char *id, bool quiet, struct rest_answer *answer,
                       struct fst_error *error);

/*
 * Logs the worker of a driver that was just submitted. Polls up to ten times, once a second, until the master knows it.
 */
int rest_client_report(struct rest_client *client, const char *id, struct fst_error *error);

struct rest_waiting {
        int64_t interval_ms; /* pause between two polls; 0: 1 s */
        int64_t away_ms;     /* how long the masters may be unavailable; 0: 15 min */
        /* Called with each new state. May be NULL. */
        void (*changed)(void *context, const struct rest_answer *status);
        void *context;
};

/*
 * Waits for the driver's end. *@state is FINISHED, FAILED, KILLED or ERROR, owned by the caller. Waits with one warning
 * for a master that is down, restarts or recovers. Returns FST_REST_E_NO_SERVER if all masters were unavailable for too
 * long, -ENOENT if a master did not know the driver in ten consecutive polls, others as rest_client_status.
 */
int rest_client_wait(struct rest_client *client, const char *id, const struct rest_waiting *waiting, char **state,
                     struct fst_error *error);

/*
 * Submits what was prepared for RestSubmissionClientApp. Waits for its end if spark.standalone.submit.waitAppCompletion
 * is set, and reports every spark.firesteel.submit.reportInterval. *@status is the exit status: 0; 1 if the awaited
 * application did not finish; 128 + N after signal N. As in Spark, a master's refusal is logged, and the status is 0.
 *
 * Returns CLUSTER_MANAGER_E_NO_REST, after Spark's warning, if a standalone master has no REST server: the caller
 * prepares again with submission.force_legacy. Returns negative with @error for other failures.
 */
int rest_submit(const struct submission *s, int *status, struct fst_error *error);

/* Log levels come from @conf and SPARK_CONF_DIR. Returns 0 with *@status, or negative with @error. */
int rest_kill(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);
int rest_status(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);
