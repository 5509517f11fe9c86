/* See client_application.h. */
#include "yarn/backend/client_application.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/application/submission_settings.h"
#include "yarn/protocol/resource_manager.h"
#include "yarn/protocol/yarn_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define POLL_FIRST_MS 5

void client_application_deinit(struct client_application *app)
{
        hadoop_token_deinit(&app->token);
        app->token = (struct hadoop_token){0};
}

int client_application_create(struct hadoop_rpc_client *rm, struct client_application *out, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *answer;
        const int r = yarn_rm_new_application(rm, &answer, error);
        if (r < 0)
                return r;
        out->id = (struct yarn_application_id){answer->application_id->cluster_timestamp, answer->application_id->id};
        out->most_mb = answer->maximum_capability ? answer->maximum_capability->memory : INT64_MAX;
        firesteel__yarn__get_new_application_response__free_unpacked(answer, NULL);
        return 0;
}

static void client_application_keep_token(struct client_application *app, const Firesteel__Yarn__Token *m)
{
        client_application_deinit(app);
        yarn_token_read(m, &app->token);
}

/* 1: accepted, with its token unless it gets a container. 0: ask again. */
static int client_application_look(struct hadoop_rpc_client *rm, struct client_application *app, bool in_container,
                                   struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        char text[YARN_ID_TEXT];
        int r = yarn_rm_report(rm, app->id, &answer, error);
        if (r < 0)
                return r;
        const Firesteel__Yarn__ApplicationReport *report = answer->report;
        if (report->state == YARN_FAILED || report->state == YARN_KILLED || report->state == YARN_FINISHED) {
                r = error_set(error, -ECANCELED, "Failed to submit %s to YARN : %s",
                              yarn_application_text(app->id, text),
                              report->diagnostics && *report->diagnostics ? report->diagnostics
                                                                          : "it ended before it was accepted");
        } else if (report->state == YARN_RUNNING || (report->state == YARN_ACCEPTED && in_container)) {
                r = 1;
        } else if (report->state == YARN_ACCEPTED && report->am_rm_token) {
                client_application_keep_token(app, report->am_rm_token);
                r = 1;
        }
        firesteel__yarn__get_application_report_response__free_unpacked(answer, NULL);
        return r;
}

int client_application_submit(struct hadoop_rpc_client *rm, const struct fst_conf *conf,
                              Firesteel__Yarn__ContainerLaunchContext *am, struct client_application *app,
                              struct fst_error *error)
{
        _cleanup_(submission_settings_deinit) struct submission_settings s = {0};
        Firesteel__Yarn__ContainerLaunchContext nothing = FIRESTEEL__YARN__CONTAINER_LAUNCH_CONTEXT__INIT;
        char text[YARN_ID_TEXT];
        int64_t most_ms = 1000;
        int r = submission_settings_read(conf, app->id, &s, error);
        r = r < 0 ? r : submission_settings_check(&s, app->most_mb, error);
        r = r < 0 ? r : conf_get_ms(conf, "spark.yarn.report.interval", &most_ms, error);
        if (r < 0)
                return r;
        most_ms = MAX(most_ms, (int64_t)POLL_FIRST_MS);
        s.context.am_container_spec = am ? am : &nothing;
        s.context.has_unmanaged_am = s.context.unmanaged_am = !am;
        log_info("Client", "Submitting application %s to ResourceManager", yarn_application_text(app->id, text));
        r = yarn_rm_submit(rm, &s.context, error);
        if (r < 0)
                return error_wrap(error, r, "Failed to submit %s to YARN ", text);
        for (int64_t pause = POLL_FIRST_MS; (r = client_application_look(rm, app, am, error)) == 0;
             pause = MIN(pause * 2, most_ms))
                usleep((useconds_t)pause * 1000);
        return r < 0 ? r : 0;
}
