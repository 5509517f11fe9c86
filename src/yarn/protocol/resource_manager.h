/*
 * Calls of a ResourceManager's ApplicationClientProtocol that wait for their answer, for clients that submit and
 * monitor.
 *
 *      r = yarn_rm_new_application(rm, &answer, error);
 *      r = yarn_rm_submit(rm, &context, error);
 *      r = yarn_rm_report(rm, id, &report, error);
 *
 * Each runs the client's loop (hadoop_rpc_client_wait). They return 0, or negative with @error: -EREMOTEIO for an
 * exception of the ResourceManager, "ApplicationNotFoundException: …". The caller frees answers with
 * protobuf_c_message_free_unpacked.
 */
#pragma once

#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

struct buf;
struct fst_error;
struct hadoop_rpc_client;

/* State of an application, in Hadoop's numbers. */
enum yarn_application_state {
        YARN_NEW = 1,
        YARN_NEW_SAVING,
        YARN_SUBMITTED,
        YARN_ACCEPTED,
        YARN_RUNNING,
        YARN_FINISHED,
        YARN_FAILED,
        YARN_KILLED,
};

enum yarn_final_status {
        YARN_FINAL_UNDEFINED,
        YARN_FINAL_SUCCEEDED,
        YARN_FINAL_FAILED,
        YARN_FINAL_KILLED,
        YARN_FINAL_ENDED,
};

/* "ACCEPTED", "SUCCEEDED"; "UNKNOWN" for other numbers. Static text. */
const char *yarn_application_state_name(int state);
const char *yarn_final_status_name(int status);

/* The id of a new application, and the largest container that the cluster allows. */
int yarn_rm_new_application(struct hadoop_rpc_client *rm, Firesteel__Yarn__GetNewApplicationResponse **out,
                            struct fst_error *error);

/* For callers that do not wait: the names of methods, the request of the second one, the check of the first one's
 * answer, which returns 0 or -EBADMSG with @error. */
#define YARN_RM_NEW_APPLICATION "getNewApplication" /* with an empty request */
#define YARN_RM_SUBMIT_APPLICATION "submitApplication"
void yarn_rm_pack_submission(Firesteel__Yarn__ApplicationSubmissionContext *context, struct buf *out);
int yarn_rm_check_new_application(const Firesteel__Yarn__GetNewApplicationResponse *answer, struct fst_error *error);

/* The application is accepted later: see its report. */
int yarn_rm_submit(struct hadoop_rpc_client *rm, Firesteel__Yarn__ApplicationSubmissionContext *context,
                   struct fst_error *error);

/* *@out has a report: an answer without one is -EBADMSG. */
int yarn_rm_report(struct hadoop_rpc_client *rm, struct yarn_application_id id,
                   Firesteel__Yarn__GetApplicationReportResponse **out, struct fst_error *error);

/* Reports of the caller's own applications in one of @states (enum yarn_application_state). The caller frees *@out. */
int yarn_rm_own_applications(struct hadoop_rpc_client *rm, const int32_t *states, size_t n,
                             Firesteel__Yarn__GetApplicationsResponse **out, struct fst_error *error);

/* Asks once. *@killed: the application has ended; else ask again. @diagnostics may be NULL. */
int yarn_rm_kill(struct hadoop_rpc_client *rm, struct yarn_application_id id, const char *diagnostics, bool *killed,
                 struct fst_error *error);

/* For tests: the number of NodeManagers. */
int yarn_rm_count_nodes(struct hadoop_rpc_client *rm, int *out, struct fst_error *error);

/* For tests: a token (kind RM_DELEGATION_TOKEN) that @renewer can renew; *@out has one. Needs a secure cluster. */
int yarn_rm_delegation_token(struct hadoop_rpc_client *rm, const char *renewer,
                             Firesteel__Yarn__GetDelegationTokenResponse **out, struct fst_error *error);
