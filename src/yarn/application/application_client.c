/* See application_client.h. */
#include "yarn/application/application_client.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "hadoop/rpc_client.h"
#include "yarn/application/yarn_context.h"
#include "yarn/application/yarn_settings.h"
#include "yarn/conf/yarn_conf.h"
#include "yarn/protocol/resource_manager.h"
#include "yarn/protocol/yarn_messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPONENT "Client"
#define FIRST_POLL_MS 5
#define POLL_KEY "yarn.client.application-client-protocol.poll-interval-ms"
#define DEFAULT_POLL_MS 200
#define MAX_POLL_MS 60000

void application_client_deinit(struct application_client *c)
{
        if (c->created)
                protobuf_c_message_free_unpacked(&c->created->base, NULL);
        c->created = NULL;
        hadoop_token_deinit(&c->token);
        c->token = (struct hadoop_token){0};
}

static bool application_client_is_stopped(const struct application_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

int application_client_create(struct application_client *c, const struct yarn_settings *settings,
                              struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created;
        const int r = yarn_rm_new_application(c->rm, &created, error);
        return r < 0 ? r : application_client_take_id(c, created, settings, error);
}

int application_client_take_id(struct application_client *c, Firesteel__Yarn__GetNewApplicationResponse *created,
                               const struct yarn_settings *settings, struct fst_error *error)
{
        c->created = created;
        const Firesteel__Yarn__ApplicationId *id = c->created->application_id;
        const int64_t maximum = c->created->maximum_capability->memory;
        c->id = (struct yarn_application_id){.cluster_timestamp = id->cluster_timestamp, .id = id->id};
        yarn_application_text(c->id, c->text);
        log_info(COMPONENT, "Application ID is assigned: %s", c->text);
        log_info(COMPONENT,
                 "Verifying our application has not requested more than the maximum memory capability of the cluster "
                 "(%" PRId64 " MB per container)",
                 maximum);
        const int r = yarn_settings_verify(settings, maximum, error);
        if (r == 0)
                log_info(COMPONENT,
                         "Will allocate AM container, with %" PRId64 " MB memory including %" PRId64 " MB overhead",
                         settings->memory + settings->overhead, settings->overhead);
        return r;
}

/* ------------------------------------------------------------------------------------------------------ submitting */

int application_client_is_accepted(struct application_client *c, const struct application_submission *s,
                                   struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        int r = application_client_report(c, &answer, error);
        if (r == APPLICATION_CLIENT_E_NOT_FOUND)
                return error_set(error, -ENOENT, "Failed to submit %s to YARN : the ResourceManager forgot it",
                                 c->text);
        if (r < 0)
                return r;
        const Firesteel__Yarn__ApplicationReport *report = answer->report;
        const int state = report->state;
        if (state == YARN_FAILED || state == YARN_KILLED || (state == YARN_FINISHED && !s->may_end)) {
                r = error_set(error, -ECANCELED, "Failed to submit %s to YARN : %s", c->text,
                              report->diagnostics && *report->diagnostics ? report->diagnostics
                                                                          : "it ended before it was accepted");
        } else if (s->may_end) {
                r = state != YARN_NEW && state != YARN_NEW_SAVING && state != YARN_SUBMITTED;
        } else if (s->am) {
                r = state == YARN_ACCEPTED || state == YARN_RUNNING;
        } else if (state == YARN_RUNNING || (state == YARN_ACCEPTED && report->am_rm_token)) {
                if (report->am_rm_token) {
                        hadoop_token_deinit(&c->token);
                        yarn_token_read(report->am_rm_token, &c->token);
                }
                r = 1;
        }
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return r;
}

static void application_client_build(const struct application_client *c, const struct application_submission *s,
                                     struct arena *arena, Firesteel__Yarn__ApplicationSubmissionContext *out)
{
        const struct yarn_context_request request = {.id = c->id,
                                                     .settings = s->settings,
                                                     .am = s->am,
                                                     .view_acl = s->view_acl,
                                                     .modify_acl = s->modify_acl,
                                                     .tokens = s->tokens,
                                                     .keep_containers = s->keep_containers,
                                                     .maximum = c->created->maximum_capability};
        yarn_context_build(&request, arena, out);
        log_info(COMPONENT, "Submitting application %s to ResourceManager", c->text);
}

int application_client_refused(const char *application_id, int status, struct fst_error *error)
{
        return error_wrap(error, status, "Failed to submit %s to YARN ", application_id);
}

int application_client_send(struct application_client *c, const struct application_submission *s,
                            struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        Firesteel__Yarn__ApplicationSubmissionContext context;
        application_client_build(c, s, &arena, &context);
        const int r = yarn_rm_submit(c->rm, &context, error);
        return r < 0 ? application_client_refused(c->text, r, error) : 0;
}

void application_client_pack(struct application_client *c, const struct application_submission *s, struct buf *out)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        Firesteel__Yarn__ApplicationSubmissionContext context;
        application_client_build(c, s, &arena, &context);
        yarn_rm_pack_submission(&context, out);
}

int application_client_submit(struct application_client *c, const struct application_submission *s,
                              struct fst_error *error)
{
        int64_t poll_ms;
        int r = yarn_conf_get_int(s->yarn, POLL_KEY, DEFAULT_POLL_MS, &poll_ms, error);
        r = r < 0 ? r : application_client_send(c, s, error);
        if (r < 0)
                return r;
        poll_ms = MAX(MIN(poll_ms, (int64_t)MAX_POLL_MS), (int64_t)1);
        for (int64_t pause = MIN((int64_t)FIRST_POLL_MS, poll_ms);
             (r = application_client_is_accepted(c, s, error)) == 0;) {
                if (application_client_is_stopped(c))
                        return 0;
                usleep((useconds_t)pause * 1000);
                pause = MIN(pause * 2, poll_ms);
        }
        if (r > 0)
                log_info("YarnClientImpl", "Submitted application %s", c->text);
        return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------------------------------------------ afterwards */

int application_client_report(struct application_client *c, Firesteel__Yarn__GetApplicationReportResponse **out,
                              struct fst_error *error)
{
        struct fst_error why = FST_ERROR_INIT;
        int r = yarn_rm_report(c->rm, c->id, out, &why);
        if (r < 0)
                error_set(error, r, "%s", error_message(&why));
        if (r == -EREMOTEIO && strncmp(error_message(&why), "ApplicationNotFoundException", 28) == 0)
                r = APPLICATION_CLIENT_E_NOT_FOUND;
        error_deinit(&why);
        return r;
}

int application_client_kill(struct application_client *c, const struct yarn_conf *yarn, struct fst_error *error)
{
        bool killed = false;
        int64_t pause;
        int r = yarn_conf_get_int(yarn, POLL_KEY, DEFAULT_POLL_MS, &pause, error);
        while (r == 0 && !killed) {
                r = yarn_rm_kill(c->rm, c->id, NULL, &killed, error);
                if (r == 0 && !killed)
                        usleep((useconds_t)MAX(MIN(pause, (int64_t)MAX_POLL_MS), (int64_t)1) * 1000);
        }
        if (r == 0)
                log_info("YarnClientImpl", "Killed application %s", c->text);
        return r;
}
