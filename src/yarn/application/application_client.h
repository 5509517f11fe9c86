/*
 * An application at the ResourceManager: created, submitted, accepted, watched, killed. Everything blocks and runs the
 * loop of the client.
 *
 *      struct application_client app = {.rm = rm, .stopped = &flag};
 *      r = application_client_create(&app, &settings, error);            the id
 *      r = application_client_submit(&app, &submission, error);          returns once it is accepted
 *      r = application_client_report(&app, &answer, error);
 *      application_client_deinit(&app);
 *
 * Follows Client.submitApplication of Spark 4.3 and YarnClientImpl of Hadoop.
 */
#pragma once

#include "hadoop/credentials.h"
#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct fst_error;
struct hadoop_rpc_client;
struct yarn_conf;
struct yarn_settings;

/* The ResourceManager does not know the application. */
#define APPLICATION_CLIENT_E_NOT_FOUND 1

struct application_client {
        struct hadoop_rpc_client *rm; /* borrowed */
        const int *stopped;           /* atomic; once it is nonzero, waiting ends. NULL: never */
        struct yarn_application_id id;
        char text[YARN_ID_TEXT]; /* the id, or "" */
        Firesteel__Yarn__GetNewApplicationResponse *created;
        struct hadoop_token token; /* YARN_AM_RM_TOKEN; only of an unmanaged application */
};

/* Takes over @created, the answer to getNewApplication. Otherwise as application_client_create. */
int application_client_take_id(struct application_client *c, Firesteel__Yarn__GetNewApplicationResponse *created,
                               const struct yarn_settings *settings, struct fst_error *error);

/* Sets the id, and compares sizes with the cluster. Returns 0, or negative with @error in Spark's words. */
int application_client_create(struct application_client *c, const struct yarn_settings *settings,
                              struct fst_error *error);

struct application_submission {
        const struct yarn_conf *yarn;
        const struct yarn_settings *settings;
        Firesteel__Yarn__ContainerLaunchContext *am; /* NULL: unmanaged, and `token` is set */
        const char *view_acl, *modify_acl;           /* NULL: none */
        const struct buf *tokens;                    /* of an unmanaged application; NULL: those of `am` */
        bool keep_containers;                        /* of executors, when an attempt fails and another one follows */
        bool may_end;                                /* before its state is read, as with Hadoop's client */
};

/* Returns 0, also if it was stopped, or negative with @error, which has YARN's diagnostics. */
int application_client_submit(struct application_client *c, const struct application_submission *submission,
                              struct fst_error *error);

/*
 * The two halves of application_client_submit, for callers that submit others meanwhile. application_client_is_accepted
 * asks once, and returns 1, 0 if the ResourceManager has not decided, or negative with @error.
 */
int application_client_send(struct application_client *c, const struct application_submission *submission,
                            struct fst_error *error);
int application_client_is_accepted(struct application_client *c, const struct application_submission *submission,
                                   struct fst_error *error);

/*
 * For callers that send the request over a connection of their own: appends the packed SubmitApplicationRequest, and
 * puts the context of the submission before an error of the answer, of which it returns the status.
 */
void application_client_pack(struct application_client *c, const struct application_submission *submission,
                             struct buf *out);
int application_client_refused(const char *application_id, int status, struct fst_error *error);

void application_client_deinit(struct application_client *c);

/* *@out is the caller's. Returns 0, APPLICATION_CLIENT_E_NOT_FOUND, or negative with @error. */
int application_client_report(struct application_client *c, Firesteel__Yarn__GetApplicationReportResponse **out,
                              struct fst_error *error);

/* Returns once the application has ended, or negative with @error. */
int application_client_kill(struct application_client *c, const struct yarn_conf *yarn, struct fst_error *error);
