/*
 * The client of a standalone master's legacy submission gateway: submits to, asks and ends drivers by the masters' own
 * messages (standalone/wire/standalone_wire.h), where there is no REST server or it is not to be used
 * (spark.master.rest.enabled=false). Spark's name for it is ClientApp; between Firesteel's own programs only.
 *
 *      gateway_submit(&submission, …)      what spark-submit does with org.apache.spark.deploy.ClientApp
 *      gateway_command(n, words, …)        spark-class org.apache.spark.deploy.Client launch|kill …
 *
 * those two say on the log what becomes of it. Programs that want the answers instead hold a client:
 *
 *      struct gateway_client *client;
 *      gateway_client_new("spark://a:7077,b:7077", &conf, &client, error);
 *      r = gateway_client_launch(client, &words, &conf, &answer, error);
 *      r = gateway_client_status(client, answer.driver_id, &answer, error);
 *      gateway_client_free(client);
 *
 * All masters are asked at once; the one that leads answers. While none does, because one is about to take over, they
 * are asked again.
 *
 * One thread at a time; all functions block, and look at *@stopped (atomic) if there is one.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct gateway_client;
struct gateway_words;
struct submission;

/* No master could be reached. */
#define FST_GATEWAY_E_NO_MASTER 1

struct gateway_answer {
        bool success;                       /* launched, killed; of a status: the driver is known */
        char *driver_id;                    /* of what was launched */
        char *message;                      /* what the master says of it; of a status: why it failed. "" if nothing */
        char *state;                        /* of a status: "RUNNING"; else NULL */
        char *worker_id, *worker_host_port; /* of a status; NULL: it has no worker */
};

#define GATEWAY_ANSWER_INIT ((struct gateway_answer){0})
void gateway_answer_deinit(struct gateway_answer *answer);

/*
 * 0 and a client, whose connections are those that @conf says; -EINVAL with @error for a list of masters that is none,
 * or as security_new.
 */
int gateway_client_new(const char *masters, const struct strmap *conf, struct gateway_client **out,
                       struct fst_error *error);
void gateway_client_free(struct gateway_client *client); /* NULL is allowed */

/* Calls end early with -ECANCELED once *@stopped is not 0. NULL: they do not. */
void gateway_client_set_stopped(struct gateway_client *client, const int *stopped);

/* How long it is asked again while no master leads, before -EAGAIN; without this call for as long as
 * spark.firesteel.submit.masterTimeout says. */
void gateway_client_set_timeout(struct gateway_client *client, int64_t ms);

/*
 * Ask; *@answer (GATEWAY_ANSWER_INIT before) has what the leader said, success or not. FST_GATEWAY_E_NO_MASTER with
 * @error; or negative with @error: -EPROTO it is of another version or no Firesteel master, -ETIMEDOUT it does not
 * answer (it may have done what was asked), -EAGAIN none of them leads, -ECANCELED, -EINVAL what cannot be asked.
 */
int gateway_client_launch(struct gateway_client *client, const struct gateway_words *words, const struct strmap *conf,
                          struct gateway_answer *answer, struct fst_error *error);
int gateway_client_kill(struct gateway_client *client, const char *id, struct gateway_answer *answer,
                        struct fst_error *error);
int gateway_client_status(struct gateway_client *client, const char *id, struct gateway_answer *answer,
                          struct fst_error *error);

/*
 * Submit what was prepared for ClientApp, and wait for its end if spark.standalone.submit.waitAppCompletion says so, or
 * if a launcher started this process (driver/backend/launcher_backend.h), which is told its id and states. *@status is
 * the exit status: 0; 1 for a driver that was waited for and did not finish; 255 when no master can be asked or it
 * refuses, as with Spark. Negative with @error for what cannot be asked at all.
 */
int gateway_submit(const struct submission *s, int *status, struct fst_error *error);

/* The @n words behind org.apache.spark.deploy.Client. 0 with *@status; what went wrong was said. */
int gateway_command(int n, char *const *words, int *status);
