/*
 * The client of Spark's REST submission protocol: submits to, asks and ends applications at a standalone master
 * (spark://HOST:PORT[,HOST:PORT…], the port of its REST server, 6066) or a Mesos dispatcher (mesos://HOST:PORT).
 *
 *      rest_submit(&submission, …)             what spark-submit does with RestSubmissionClientApp
 *      rest_kill(master, id, …)                spark-submit --kill
 *      rest_status(master, id, …)              spark-submit --status
 *
 * those three say on the log and on standard error what Spark's client says. Programs that want the answers instead
 * hold a client:
 *
 *      struct rest_client *client;
 *      rest_client_new("spark://a:6066,b:6066", &client, error);
 *      r = rest_client_create(client, &request, &answer, error);
 *      r = rest_client_wait(client, answer.submission_id, &waiting, &state, error);
 *      rest_client_free(client);
 *
 * Masters are tried in the order of the list until one takes the request, as Spark does. Connections are kept. HTTP
 * goes over net/http/http_plain.h, without a library: the protocol has no other form, and a waiting client stays small.
 *
 * One thread at a time; all functions block, and look at *@stopped (atomic) if there is one.
 */
#pragma once

#include "rest/rest_messages.h"

#include <stdint.h>

struct fst_error;
struct rest_client;
struct submission;

/* No master could be reached, or none of them answers as a REST server does. */
#define FST_REST_E_NO_SERVER 1

/* 0 and a client, or -EINVAL for a URL that is neither spark:// nor mesos:// or that names no host and port. */
int rest_client_new(const char *master, struct rest_client **out, struct fst_error *error);
void rest_client_free(struct rest_client *client); /* NULL is allowed */

/* spark:// and mesos:// */
bool rest_client_supports(const char *master);

/* Calls end early with -ECANCELED once *@stopped is not 0. NULL: they do not. */
void rest_client_set_stopped(struct rest_client *client, const int *stopped);

/*
 * Send @token (REST_TOKEN_KEY; NULL: none) with each request. 0, or -EINVAL with @error if no header can hold it.
 * It travels as it is: without TLS whoever reads the connection knows it.
 */
int rest_client_set_token(struct rest_client *client, const char *token, struct fst_error *error);

/*
 * Ask; the answer, of whatever kind, is in *@answer (REST_ANSWER_INIT before). 0: one came; answer->success says
 * whether the master did what was asked, and an answer of the kind REST_ERROR is the server's refusal.
 * FST_REST_E_NO_SERVER with @error; or negative with @error: -EINVAL the request cannot be sent (its validation, an ID
 * that no URL can have), -EBADMSG, -ENOMSG, -EMSGSIZE, -ENODATA what came is no answer, -ECANCELED.
 */
int rest_client_create(struct rest_client *client, const struct rest_create *request, struct rest_answer *answer,
                       struct fst_error *error);
int rest_client_kill(struct rest_client *client, const char *id, struct rest_answer *answer, struct fst_error *error);

/* @quiet: do not log the answer. */
int rest_client_status(struct rest_client *client, const char *id, bool quiet, struct rest_answer *answer,
                       struct fst_error *error);

/* Log where a driver that was just submitted runs: asks up to ten times, a second apart, until the master knows it. */
int rest_client_report(struct rest_client *client, const char *id, struct fst_error *error);

struct rest_waiting {
        int64_t interval_ms; /* between two questions; 0: 1 s */
        int64_t away_ms;     /* how long the masters may be away before waiting is given up; 0: 15 min */
        /* Called with each state that differs from the last one; may be NULL. */
        void (*changed)(void *context, const struct rest_answer *status);
        void *context;
};

/*
 * Wait until the driver has ended: *@state is FINISHED, FAILED, KILLED or ERROR, a text that the caller owns. A master
 * that is gone, restarts or recovers is waited for, with one warning. FST_REST_E_NO_SERVER when all were away for too
 * long; -ENOENT when a master has not known the driver ten times running; others as rest_client_status.
 */
int rest_client_wait(struct rest_client *client, const char *id, const struct rest_waiting *waiting, char **state,
                     struct fst_error *error);

/*
 * Submit what was prepared for RestSubmissionClientApp, and wait for its end if spark.standalone.submit.
 * waitAppCompletion says so (reports every spark.firesteel.submit.reportInterval). *@status is the exit status: 0; 1
 * for an application that was waited for and did not finish; 128 + N after the signal N. As in Spark a master's
 * refusal is told in the log, and the status is 0.
 *
 * CLUSTER_MANAGER_E_NO_REST, after Spark's warning, when a standalone master was no REST server: the caller prepares
 * again with submission.force_legacy. Negative with @error.
 */
int rest_submit(const struct submission *s, int *status, struct fst_error *error);

/* Log levels come from @conf and SPARK_CONF_DIR. 0 with *@status, or negative with @error. */
int rest_kill(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);
int rest_status(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error);
