/* See yarn_requests.h. */
#include "submit/yarn/yarn_requests.h"

#include "yarn/application/application_client.h"
#include "yarn/application/application_monitor.h"
#include "yarn/conf/yarn_cluster.h"
#include "yarn/protocol/resource_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <stdio.h>

/* Asks the ResourceManager for one application. */
struct yarn_lookup {
        struct yarn_cluster *cluster;
        struct yarn_connection *connection; /* NULL until connected */
        struct application_client app;
};

static int yarn_lookup_init(struct yarn_lookup *q, const char *id, const struct strmap *conf, struct fst_error *error)
{
        *q = (struct yarn_lookup){0};
        if (!conf_environment("HADOOP_CONF_DIR") && !conf_environment("YARN_CONF_DIR"))
                return error_set(
                        error, -EINVAL,
                        "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in "
                        "the environment.");
        int r = yarn_application_parse(id, &q->app.id, error);
        if (r < 0)
                return r;
        yarn_application_text(q->app.id, q->app.text);
        r = yarn_cluster_get(&(struct yarn_cluster_identity){.spark = conf, .env = conf_environment}, &q->cluster,
                             error);
        if (r == 0)
                r = yarn_cluster_connect(q->cluster, NULL, &q->connection, error);
        if (r == 0)
                q->app.rm = q->connection->rm;
        return r;
}

static void yarn_lookup_deinit(struct yarn_lookup *q)
{
        application_client_deinit(&q->app);
        if (q->connection)
                yarn_cluster_release(q->cluster, q->connection, false);
        yarn_cluster_unref(q->cluster);
}

static int yarn_lookup_report(struct yarn_lookup *q, Firesteel__Yarn__GetApplicationReportResponse **out, int *status,
                              struct fst_error *error)
{
        int r = application_client_report(&q->app, out, error);
        if (r != APPLICATION_CLIENT_E_NOT_FOUND)
                return r;
        fprintf(stderr, "Application %s not found: the ResourceManager does not know it.\n", q->app.text);
        *status = 1;
        return r;
}

static void yarn_report_free(Firesteel__Yarn__GetApplicationReportResponse *report)
{
        protobuf_c_message_free_unpacked(&report->base, NULL);
}

static int yarn_lookup_status(struct yarn_lookup *q, int *status, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        int r = yarn_lookup_report(q, &answer, status, error);
        if (r)
                return MIN(r, 0);
        _cleanup_free_ char *text = application_report_text(answer->report);
        fprintf(stderr, "Application report for %s (state: %s)%s\n", q->app.text,
                yarn_application_state_name(answer->report->state), text);
        yarn_report_free(answer);
        return 0;
}

static int yarn_lookup_kill(struct yarn_lookup *q, int *status, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        int r = yarn_lookup_report(q, &answer, status, error);
        if (r)
                return MIN(r, 0);
        const int state = answer->report->state;
        yarn_report_free(answer);
        if (state == YARN_FINISHED || state == YARN_FAILED || state == YARN_KILLED) {
                fprintf(stderr, "Application %s has already ended (state: %s).\n", q->app.text,
                        yarn_application_state_name(state));
                return 0;
        }
        fprintf(stderr, "Killing application %s.\n", q->app.text);
        r = application_client_kill(&q->app, yarn_cluster_conf(q->cluster), error);
        if (r == 0)
                fprintf(stderr, "Killed application %s.\n", q->app.text);
        return r;
}

static int yarn_lookup_run(int (*run)(struct yarn_lookup *q, int *status, struct fst_error *error), const char *id,
                           const struct strmap *conf, int *status, struct fst_error *error)
{
        struct yarn_lookup q;
        *status = 0;
        int r = yarn_lookup_init(&q, id, conf, error);
        if (r == 0)
                r = run(&q, status, error);
        yarn_lookup_deinit(&q);
        *status = r < 0 ? 1 : *status;
        return r;
}

int yarn_kill(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error)
{
        return yarn_lookup_run(yarn_lookup_kill, id, conf, status, error);
}

int yarn_status(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error)
{
        return yarn_lookup_run(yarn_lookup_status, id, conf, status, error);
}
