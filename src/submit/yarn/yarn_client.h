/*
 * The client of one submission to YARN in cluster mode: checks, stages, submits, and reads the application's state.
 *
 *      struct yarn_client *client;
 *      r = yarn_client_new(s, env, stopped, &client, error);
 *      r = yarn_client_submit(client, true, error);
 *      r = yarn_client_report(client, &report, error);           … until the application has ended
 *      yarn_client_free(client);
 *
 * It logs what Spark's Client logs. One thread at a time; all functions but _free block.
 */
#pragma once

#include "yarn/application/application_client.h"
#include "yarn/protocol/resource_manager.h"

#include <stdbool.h>

struct fst_conf;
struct fst_error;
struct submission;
struct yarn_client;
struct yarn_settings;

/*
 * Reads the settings of @s, prepared in cluster mode, and connects to nothing. @stopped is borrowed: once it is
 * nonzero, submitting ends with -EINTR. Returns 0, or negative with @error.
 */
int yarn_client_new(const struct submission *s, const char *(*env)(const char *name), const int *stopped,
                    struct yarn_client **out, struct fst_error *error);
void yarn_client_free(struct yarn_client *c); /* NULL is allowed */

/* Borrowed. */
const struct yarn_settings *yarn_client_settings(const struct yarn_client *c);
const struct fst_conf *yarn_client_conf(const struct yarn_client *c);

/* "application_1700000000000_0001", or NULL before yarn_client_submit got an id. Borrowed. */
const char *yarn_client_id(const struct yarn_client *c);

/*
 * Creates the application, stages its files and submits it; with @wait, returns when the ResourceManager has accepted
 * or refused it. Removes the staging directory if this fails. Returns 0, or negative with @error.
 */
int yarn_client_submit(struct yarn_client *c, bool wait, struct fst_error *error);

/* How the ResourceManager answered a submission: 0, or negative with @error, which the callback may take over. */
typedef void (*yarn_client_done)(void *owner, int status, struct fst_error *error);

/* Whether yarn_client_send may be used: another submission of the same user could use the same connection. */
bool yarn_client_can_share(const struct yarn_client *c);

/*
 * As yarn_client_submit without waiting, over a connection that all submissions of the process share. Returns before
 * the ResourceManager has answered. @others: so many submissions will follow soon. Returns 0, then @done runs once on
 * another thread, also if @c is freed meanwhile; or negative with @error. After a negative answer, yarn_client_clean_up
 * removes the staging directory.
 */
int yarn_client_send(struct yarn_client *c, size_t others, yarn_client_done done, void *owner, struct fst_error *error);

/* After a positive answer, before yarn_client_is_accepted. */
void yarn_client_set_sent(struct yarn_client *c);

/*
 * After a submission without waiting: returns 1 if the application is accepted, 0 if the ResourceManager has not
 * decided yet, or negative with @error if it has refused it; then the staging directory is removed.
 */
int yarn_client_is_accepted(struct yarn_client *c, struct fst_error *error);

/*
 * Reads the application's report, which the caller frees. Returns 0, APPLICATION_CLIENT_E_NOT_FOUND, or
 * negative with @error.
 */
int yarn_client_report(struct yarn_client *c, Firesteel__Yarn__GetApplicationReportResponse **out,
                       struct fst_error *error);

/* Kills the application, and waits until the ResourceManager has done so. Returns 0, or negative with @error. */
int yarn_client_kill(struct yarn_client *c, struct fst_error *error);

/*
 * With spark.yarn.includeDriverLogsLink: lines for a report with the URLs of the driver's logs, from the
 * ResourceManager's REST interface; else, before the driver has a container, or if the ResourceManager does not answer:
 * NULL. Owned.
 */
char *yarn_client_driver_logs(struct yarn_client *c);

/* Removes the staging directory, unless it is to be kept. */
void yarn_client_clean_up(struct yarn_client *c);
