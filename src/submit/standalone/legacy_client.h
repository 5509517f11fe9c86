/*
 * The client of a standalone master's legacy submission gateway (Spark: ClientApp). It submits, queries and kills
 * drivers with the masters' own messages (standalone/wire/standalone_wire.h), where there is no REST server or the user
 * disabled it (spark.master.rest.enabled=false). It works only between Firesteel's own programs.
 *
 *      legacy_submit(&submission, …)      spark-submit with org.apache.spark.deploy.ClientApp
 *      legacy_command(n, words, …)        spark-class org.apache.spark.deploy.Client launch|kill …
 *
 * These two functions log the outcome. Programs that want the replies hold a client:
 *
 *      struct legacy_client *client;
 *      legacy_client_new("spark://a:7077,b:7077", &conf, &client, error);
 *      r = legacy_client_launch(client, &words, &conf, &answer, error);
 *      r = legacy_client_status(client, answer.driver_id, &answer, error);
 *      legacy_client_free(client);
 *
 * The client sends a request to all masters at once, and the leader replies. While no master leads, for example during
 * a failover, the client repeats the request.
 *
 * One thread at a time. All functions block and check *@stopped (atomic) if it is set.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct legacy_client;
struct legacy_arguments;
struct submission;

/* No master is reachable. */
#define FST_LEGACY_E_NO_MASTER 1

struct legacy_answer {
        bool success;                       /* launched or killed; for a status: the driver is known */
        char *driver_id;                    /* the launched driver */
        char *message;                      /* the master's message; for a status: why the driver failed; "" if none */
        char *state;                        /* for a status: "RUNNING"; else NULL */
        char *worker_id, *worker_host_port; /* for a status; NULL without a worker */
};

#define LEGACY_ANSWER_INIT ((struct legacy_answer){0})
void legacy_answer_deinit(struct legacy_answer *answer);

/*
 * Returns 0 and a client whose connections use the settings of @conf. Returns -EINVAL with @error for an invalid list
 * of masters, or the errors of security_new.
 */
int legacy_client_new(const char *masters, const struct strmap *conf, struct legacy_client **out,
                      struct fst_error *error);
void legacy_client_free(struct legacy_client *client); /* NULL is allowed */

/* If *@stopped is not 0, calls end early with -ECANCELED. NULL disables this. */
void legacy_client_set_stopped(struct legacy_client *client, const int *stopped);

/*
 * Sets how long a request is repeated while no master leads, before it fails with -EAGAIN. The default is
 * spark.firesteel.submit.masterTimeout.
 */
void legacy_client_set_timeout(struct legacy_client *client, int64_t ms);

/*
 * Send a request. *@answer (LEGACY_ANSWER_INIT before) receives the leader's reply, success or not. Returns
 * FST_LEGACY_E_NO_MASTER with @error, or negative with @error: -EPROTO the master has another version or is not
 * Firesteel's, -ETIMEDOUT the master does not reply (it may have carried out the request), -EAGAIN no master leads,
 * -ECANCELED, -EINVAL the request is invalid.
 */
int legacy_client_launch(struct legacy_client *client, const struct legacy_arguments *words, const struct strmap *conf,
                         struct legacy_answer *answer, struct fst_error *error);
int legacy_client_kill(struct legacy_client *client, const char *id, struct legacy_answer *answer,
                       struct fst_error *error);
int legacy_client_status(struct legacy_client *client, const char *id, struct legacy_answer *answer,
                         struct fst_error *error);

/*
 * Submits what was prepared for ClientApp. Waits for the driver's end if spark.standalone.submit.waitAppCompletion is
 * set, or if a launcher started this process (driver/backend/launcher_backend.h), which then receives the driver's id
 * and states. *@status is the exit status: 0; 1 if the awaited driver did not finish; 255 if no master is reachable or
 * the master refuses, as with Spark. Returns negative with @error for an invalid request.
 */
int legacy_submit(const struct submission *s, int *status, struct fst_error *error);

/* Runs the @n words of org.apache.spark.deploy.Client. Returns 0 with *@status. Errors have been printed. */
int legacy_command(int n, char *const *words, int *status);
