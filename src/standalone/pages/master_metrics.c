/* See master_pages_internal.h: metrics, as JSON and as Prometheus has them, under Spark's names. */
#include "base/mem.h"
#include "standalone/pages/master_json.h"
#include "standalone/pages/master_pages_internal.h"
#include "metrics/metrics_snapshot.h"

void master_serve_metrics(struct master_pages *p, struct web_request *q)
{
        const struct master *m = master_pages_state(p);
        struct metrics_snapshot metrics = METRICS_SNAPSHOT_INIT;
        int waiting = 0;
        for (const struct master_app *app = m->apps.first; app; app = app->next)
                waiting += app->state == APP_WAITING;
        metrics_gauge(&metrics, "master.workers", m->n_workers + m->n_dead);
        metrics_gauge(&metrics, "master.aliveWorkers", (int64_t)m->alive.len);
        metrics_gauge(&metrics, "master.apps", m->n_apps);
        metrics_gauge(&metrics, "master.waitingApps", waiting);
        web_answer_metrics(q, &metrics);
}

static void put_app_metrics(const struct master_pages *p, const struct master_app *app,
                            struct metrics_snapshot *metrics)
{
        _cleanup_free_ char *status = mem_printf("application.%s.%lld.status", app->name, (long long)app->submitted);
        _cleanup_free_ char *runtime =
                mem_printf("application.%s.%lld.runtime_ms", app->name, (long long)app->submitted);
        _cleanup_free_ char *cores = mem_printf("application.%s.%lld.cores", app->name, (long long)app->submitted);
        metrics_text(metrics, status, app_state_name(app->state));
        metrics_gauge(metrics, runtime, master_app_duration(master_pages_state(p), app, p->options.ops->now()));
        metrics_gauge(metrics, cores, app->cores_granted);
}

void master_serve_app_metrics(struct master_pages *p, struct web_request *q)
{
        struct metrics_snapshot metrics = METRICS_SNAPSHOT_INIT;
        for (const struct master_app *app = master_pages_state(p)->apps.first; app; app = app->next)
                put_app_metrics(p, app, &metrics);
        web_answer_metrics(q, &metrics);
}
