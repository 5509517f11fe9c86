/* See master_pages_internal.h: metrics, as JSON and as Prometheus has them, and for sinks, under Spark's names. */
#include "base/mem.h"
#include "standalone/pages/master_json.h"
#include "standalone/pages/master_pages_internal.h"
#include "metrics/metrics_daemon.h"

static void master_measure(void *owner, struct metrics_snapshot *out)
{
        const struct master *m = master_pages_state(owner);
        int waiting = 0;
        for (const struct master_app *app = m->apps.first; app; app = app->next)
                waiting += app->state == APP_WAITING;
        metrics_gauge(out, "master.workers", m->n_workers + m->n_dead);
        metrics_gauge(out, "master.aliveWorkers", (int64_t)m->alive.len);
        metrics_gauge(out, "master.apps", m->n_apps);
        metrics_gauge(out, "master.waitingApps", waiting);
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

static void master_measure_apps(void *owner, struct metrics_snapshot *out)
{
        const struct master *m = master_pages_state(owner);
        for (const struct master_app *app = m->apps.first; app; app = app->next)
                put_app_metrics(owner, app, out);
        for (size_t i = 0; i < m->completed_apps.len; i++) /* as long as the master keeps them, as in Spark */
                put_app_metrics(owner, m->completed_apps.data[i], out);
}

bool master_serve_metrics(struct master_pages *p, struct web_request *q)
{
        struct metrics_snapshot metrics = METRICS_SNAPSHOT_INIT;
        enum metrics_servlet servlet = metrics_servlets_find(&p->servlets, q->path);
        const bool is_own = servlet != METRICS_SERVLET_NONE;
        if (!is_own)
                servlet = metrics_servlets_find(&p->app_servlets, q->path);
        if (!servlet)
                return false;
        if (is_own)
                master_measure(p, &metrics);
        else
                master_measure_apps(p, &metrics);
        web_answer_metrics(q, &metrics, servlet == METRICS_SERVLET_PROMETHEUS);
        return true;
}

int master_start_sinks(struct master_pages *p, struct fst_error *error)
{
        struct metrics_daemon_options options = {.loop = p->options.loop,
                                                 .instance = "master",
                                                 .conf = p->options.conf,
                                                 .measure = master_measure,
                                                 .owner = p};
        metrics_servlets_read(&p->servlets, "master", p->options.conf, getenv("SPARK_CONF_DIR"));
        metrics_servlets_read(&p->app_servlets, "applications", p->options.conf, getenv("SPARK_CONF_DIR"));
        int r = metrics_daemon_start(&options, &p->sinks, error);
        options.instance = "applications";
        options.measure = master_measure_apps;
        return r ? r : metrics_daemon_start(&options, &p->app_sinks, error);
}

void master_stop_sinks(struct master_pages *p)
{
        metrics_daemon_stop(steal(p->sinks));
        metrics_daemon_stop(steal(p->app_sinks));
        metrics_servlets_deinit(&p->servlets);
        metrics_servlets_deinit(&p->app_servlets);
}
