/* See resource_manager.h. */
#include "yarn/protocol/resource_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "hadoop/rpc_client.h"

#define SCOPE_OWN 2 /* ApplicationsRequestScope */

static const char *const application_states[] = {
        [YARN_NEW] = "NEW",           [YARN_NEW_SAVING] = "NEW_SAVING", [YARN_SUBMITTED] = "SUBMITTED",
        [YARN_ACCEPTED] = "ACCEPTED", [YARN_RUNNING] = "RUNNING",       [YARN_FINISHED] = "FINISHED",
        [YARN_FAILED] = "FAILED",     [YARN_KILLED] = "KILLED",
};

static const char *const final_statuses[] = {
        [YARN_FINAL_UNDEFINED] = "UNDEFINED", [YARN_FINAL_SUCCEEDED] = "SUCCEEDED", [YARN_FINAL_FAILED] = "FAILED",
        [YARN_FINAL_KILLED] = "KILLED",       [YARN_FINAL_ENDED] = "ENDED",
};

static const char *yarn_name_in(const char *const *names, size_t n, int number)
{
        return number >= 0 && (size_t)number < n && names[number] ? names[number] : "UNKNOWN";
}

const char *yarn_application_state_name(int state)
{
        return yarn_name_in(application_states, ARRAY_SIZE(application_states), state);
}

const char *yarn_final_status_name(int status)
{
        return yarn_name_in(final_statuses, ARRAY_SIZE(final_statuses), status);
}

/* Calls @method and sets *@out to the unpacked answer, which the caller frees. */
static int rm_call(struct hadoop_rpc_client *rm, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *descriptor, void *out, struct fst_error *error)
{
        const struct hadoop_rpc_call call = {.method = method, .answer = descriptor};
        ProtobufCMessage *answer;
        const int r = hadoop_rpc_client_wait(rm, &call, request, &answer, error);
        if (r == 0)
                *(ProtobufCMessage **)out = answer;
        return r;
}

static void yarn_message_freep(void *message)
{
        protobuf_c_message_free_unpacked(*(ProtobufCMessage **)message, NULL);
}

static Firesteel__Yarn__ApplicationId application_message(struct yarn_application_id id)
{
        Firesteel__Yarn__ApplicationId m = FIRESTEEL__YARN__APPLICATION_ID__INIT;
        m.has_id = m.has_cluster_timestamp = true;
        m.id = id.id;
        m.cluster_timestamp = id.cluster_timestamp;
        return m;
}

int yarn_rm_check_new_application(const Firesteel__Yarn__GetNewApplicationResponse *answer, struct fst_error *error)
{
        return answer->application_id && answer->maximum_capability
                       ? 0
                       : error_set(error, -EBADMSG,
                                   "the ResourceManager gave no application id or no maximum capability");
}

int yarn_rm_new_application(struct hadoop_rpc_client *rm, Firesteel__Yarn__GetNewApplicationResponse **out,
                            struct fst_error *error)
{
        Firesteel__Yarn__Empty request = FIRESTEEL__YARN__EMPTY__INIT;
        _cleanup_(yarn_message_freep) Firesteel__Yarn__GetNewApplicationResponse *answer = NULL;
        int r = rm_call(rm, YARN_RM_NEW_APPLICATION, &request.base,
                        &firesteel__yarn__get_new_application_response__descriptor, &answer, error);
        if (r == 0)
                r = yarn_rm_check_new_application(answer, error);
        if (r == 0)
                *out = steal(answer);
        return r;
}

void yarn_rm_pack_submission(Firesteel__Yarn__ApplicationSubmissionContext *context, struct buf *out)
{
        Firesteel__Yarn__SubmitApplicationRequest request = FIRESTEEL__YARN__SUBMIT_APPLICATION_REQUEST__INIT;
        request.context = context;
        hadoop_message_pack(&request.base, out);
}

int yarn_rm_submit(struct hadoop_rpc_client *rm, Firesteel__Yarn__ApplicationSubmissionContext *context,
                   struct fst_error *error)
{
        Firesteel__Yarn__SubmitApplicationRequest request = FIRESTEEL__YARN__SUBMIT_APPLICATION_REQUEST__INIT;
        _cleanup_(yarn_message_freep) Firesteel__Yarn__Empty *answer = NULL;
        request.context = context;
        return rm_call(rm, YARN_RM_SUBMIT_APPLICATION, &request.base, &firesteel__yarn__empty__descriptor, &answer,
                       error);
}

int yarn_rm_report(struct hadoop_rpc_client *rm, struct yarn_application_id id,
                   Firesteel__Yarn__GetApplicationReportResponse **out, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportRequest request = FIRESTEEL__YARN__GET_APPLICATION_REPORT_REQUEST__INIT;
        Firesteel__Yarn__ApplicationId application = application_message(id);
        _cleanup_(yarn_message_freep) Firesteel__Yarn__GetApplicationReportResponse *answer = NULL;
        request.application_id = &application;
        const int r = rm_call(rm, "getApplicationReport", &request.base,
                              &firesteel__yarn__get_application_report_response__descriptor, &answer, error);
        if (r == 0 && !answer->report)
                return error_set(error, -EBADMSG, "the ResourceManager gave no report of the application");
        if (r == 0)
                *out = steal(answer);
        return r;
}

int yarn_rm_own_applications(struct hadoop_rpc_client *rm, const int32_t *states, size_t n,
                             Firesteel__Yarn__GetApplicationsResponse **out, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationsRequest request = FIRESTEEL__YARN__GET_APPLICATIONS_REQUEST__INIT;
        request.n_application_states = n;
        request.application_states = (int32_t *)states;
        request.has_scope = true;
        request.scope = SCOPE_OWN;
        return rm_call(rm, "getApplications", &request.base, &firesteel__yarn__get_applications_response__descriptor,
                       out, error);
}

int yarn_rm_kill(struct hadoop_rpc_client *rm, struct yarn_application_id id, const char *diagnostics, bool *killed,
                 struct fst_error *error)
{
        Firesteel__Yarn__KillApplicationRequest request = FIRESTEEL__YARN__KILL_APPLICATION_REQUEST__INIT;
        Firesteel__Yarn__ApplicationId application = application_message(id);
        _cleanup_(yarn_message_freep) Firesteel__Yarn__KillApplicationResponse *answer = NULL;
        request.application_id = &application;
        request.diagnostics = (char *)diagnostics;
        const int r = rm_call(rm, "forceKillApplication", &request.base,
                              &firesteel__yarn__kill_application_response__descriptor, &answer, error);
        if (r == 0)
                *killed = answer->is_kill_completed;
        return r;
}

int yarn_rm_count_nodes(struct hadoop_rpc_client *rm, int *out, struct fst_error *error)
{
        Firesteel__Yarn__Empty request = FIRESTEEL__YARN__EMPTY__INIT;
        _cleanup_(yarn_message_freep) Firesteel__Yarn__GetClusterMetricsResponse *answer = NULL;
        const int r = rm_call(rm, "getClusterMetrics", &request.base,
                              &firesteel__yarn__get_cluster_metrics_response__descriptor, &answer, error);
        if (r == 0)
                *out = answer->metrics ? answer->metrics->num_node_managers : 0;
        return r;
}

int yarn_rm_delegation_token(struct hadoop_rpc_client *rm, const char *renewer,
                             Firesteel__Yarn__GetDelegationTokenResponse **out, struct fst_error *error)
{
        Firesteel__Yarn__GetDelegationTokenRequest request = FIRESTEEL__YARN__GET_DELEGATION_TOKEN_REQUEST__INIT;
        _cleanup_(yarn_message_freep) Firesteel__Yarn__GetDelegationTokenResponse *answer = NULL;
        request.renewer = (char *)renewer;
        const int r = rm_call(rm, "getDelegationToken", &request.base,
                              &firesteel__yarn__get_delegation_token_response__descriptor, &answer, error);
        if (r == 0 && !answer->token)
                return error_set(error, -EBADMSG, "the ResourceManager gave no delegation token");
        if (r == 0)
                *out = steal(answer);
        return r;
}
