/* See executor_sinks.h. */
#include "exec/executor_sinks.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "exec/task/executor_source.h"
#include "metrics/metrics_conf.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_system.h"

#include <stdlib.h>

struct executor_sinks {
        struct metrics_registry *registry;
        struct metrics_system *system;
        struct executor_source *source;
};

int executor_sinks_add_sources(struct metrics_registry *registry, const struct executor_sinks_options *options,
                               struct executor_source **out, struct fst_error *error)
{
        bool tree, memory;
        int r = conf_get_bool(options->conf, "spark.executor.processTreeMetrics.enabled", &tree, error);
        if (r == 0)
                r = conf_get_bool(options->conf, "spark.metrics.executorMetricsSource.enabled", &memory, error);
        if (r)
                return r;
        *out = executor_source_new(options->env, options->cores, tree);
        if (options->cores)
                metrics_registry_add_source(registry, executor_source_put_tasks, *out);
        metrics_registry_add_source(registry, executor_source_put_cpu, *out);
        if (memory)
                metrics_registry_add_source(registry, executor_source_put_memory, *out);
        return 0;
}

int executor_sinks_start(const struct executor_sinks_options *options, struct executor_sinks **out,
                         struct fst_error *error)
{
        _cleanup_free_ char *prefix = NULL;
        int r = metrics_conf_prefix(options->conf, options->app_id, options->executor_id, &prefix, error);
        if (r)
                return r;
        struct executor_sinks *m = new0(struct executor_sinks);
        m->registry = metrics_registry_new(prefix);
        r = executor_sinks_add_sources(m->registry, options, &m->source, error);
        if (r == 0)
                r = metrics_system_start(&(struct metrics_system_options){.instance = "executor",
                                                                          .conf = options->conf,
                                                                          .conf_dir = getenv("SPARK_CONF_DIR"),
                                                                          .registry = m->registry,
                                                                          .app_id = options->app_id,
                                                                          .executor_id = options->executor_id},
                                         &m->system, error);
        if (r || !m->system)
                executor_sinks_stop(steal(m));
        if (r == 0)
                *out = m;
        return r;
}

struct executor_source *executor_sinks_source(const struct executor_sinks *m)
{
        return m ? m->source : NULL;
}

void executor_sinks_stop(struct executor_sinks *m)
{
        if (!m)
                return;
        metrics_system_stop(m->system);
        metrics_registry_free(m->registry);
        executor_source_free(m->source);
        free(m);
}
