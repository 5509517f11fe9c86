/* See driver_metrics.h. */
#include "driver/driver_metrics.h"

#include "base/clock.h"
#include "driver/context.h"
#include "driver/events/app_status.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_system.h"

#define MAX_RUNNING_STAGES 64

struct driver_metrics {
        struct metrics_registry *registry;
        struct metrics_system *system;
};

static void metrics_source_listener_bus(void *owner, struct metrics_snapshot *out)
{
        struct listener_bus_counts counts = listener_bus_counts(owner);
        metrics_counter(out, "LiveListenerBus.numEventsPosted", (int64_t)counts.posted);
        /* One queue serves all listeners. */
        metrics_gauge(out, "LiveListenerBus.queue.shared.size", (int64_t)counts.pending);
        metrics_counter(out, "LiveListenerBus.queue.shared.numDroppedEvents", (int64_t)counts.dropped);
}

static void metrics_source_dag_scheduler(void *owner, struct metrics_snapshot *out)
{
        struct stage_status stages[MAX_RUNNING_STAGES];
        struct app_status_totals t = app_status_totals(owner);
        int64_t active = (int64_t)app_status_active_jobs(owner, NULL, 0);
        metrics_gauge(out, "DAGScheduler.job.activeJobs", active);
        metrics_gauge(out, "DAGScheduler.job.allJobs", active + t.succeeded_jobs + t.failed_jobs);
        metrics_gauge(out, "DAGScheduler.stage.runningStages",
                      (int64_t)app_status_active_stages(owner, stages, MAX_RUNNING_STAGES));
}

static void metrics_source_block_manager(void *owner, struct metrics_snapshot *out)
{
        struct app_status_storage s = app_status_storage(owner);
        const struct {
                const char *name;
                int64_t bytes;
        } gauges[] = {
                {"memory.maxMem_MB", s.max_memory},
                {"memory.maxOnHeapMem_MB", s.max_on_heap},
                {"memory.maxOffHeapMem_MB", s.max_off_heap},
                {"memory.memUsed_MB", s.used_on_heap + s.used_off_heap},
                {"memory.onHeapMemUsed_MB", s.used_on_heap},
                {"memory.offHeapMemUsed_MB", s.used_off_heap},
                {"memory.remainingMem_MB", s.max_memory - s.used_on_heap - s.used_off_heap},
                {"memory.remainingOnHeapMem_MB", s.max_on_heap - s.used_on_heap},
                {"memory.remainingOffHeapMem_MB", s.max_off_heap - s.used_off_heap},
                {"disk.diskSpaceUsed_MB", s.disk_used},
        };
        for (size_t i = 0; i < ARRAY_SIZE(gauges); i++) {
                _cleanup_free_ char *name = mem_printf("BlockManager.%s", gauges[i].name);
                metrics_gauge(out, name, gauges[i].bytes / (1 << 20));
        }
}

static void metrics_source_app_status(void *owner, struct metrics_snapshot *out)
{
        struct app_status_totals t = app_status_totals(owner);
        metrics_counter(out, "appStatus.jobs.failedJobs", t.failed_jobs);
        metrics_counter(out, "appStatus.jobs.succeededJobs", t.succeeded_jobs);
        metrics_counter(out, "appStatus.stages.completedStages", t.completed_stages);
        metrics_counter(out, "appStatus.stages.failedStages", t.failed_stages);
        metrics_counter(out, "appStatus.stages.skippedStages", t.skipped_stages);
        metrics_counter(out, "appStatus.tasks.completedTasks", t.completed_tasks);
        metrics_counter(out, "appStatus.tasks.failedTasks", t.failed_tasks);
        metrics_counter(out, "appStatus.tasks.killedTasks", t.killed_tasks);
}

int driver_metrics_start(struct fst_context *sc, struct driver_metrics **out, struct fst_error *error)
{
        _cleanup_free_ char *namespace = NULL;
        bool app_status;
        int r = conf_get_string(sc->conf, "spark.metrics.namespace", &namespace, error);
        if (r == 0)
                r = conf_get_bool(sc->conf, "spark.metrics.appStatusSource.enabled", &app_status, error);
        if (r)
                return r;
        _cleanup_free_ char *prefix = mem_printf("%s.driver", namespace ? namespace : sc->app_id);
        struct driver_metrics *m = new0(struct driver_metrics);
        m->registry = metrics_registry_new(prefix);
        metrics_registry_add_source(m->registry, metrics_source_listener_bus, sc->bus);
        metrics_registry_add_source(m->registry, metrics_source_dag_scheduler, sc->app_status);
        metrics_registry_add_source(m->registry, metrics_source_block_manager, sc->app_status);
        if (app_status)
                metrics_registry_add_source(m->registry, metrics_source_app_status, sc->app_status);
        r = metrics_system_start(&(struct metrics_system_options){.instance = "driver",
                                                                  .conf = sc->conf,
                                                                  .conf_dir = getenv("SPARK_CONF_DIR"),
                                                                  .registry = m->registry,
                                                                  .app_id = sc->app_id,
                                                                  .executor_id = "driver"},
                                 &m->system, error);
        if (r) {
                metrics_registry_free(m->registry);
                free(m);
                m = NULL;
        }
        if (r == 0)
                *out = m;
        return r;
}

void driver_metrics_measure(struct driver_metrics *m, struct metrics_snapshot *out)
{
        metrics_registry_snapshot(m->registry, now_ns(), out);
}

void driver_metrics_stop(struct driver_metrics *m)
{
        if (!m)
                return;
        metrics_system_stop(m->system);
        metrics_registry_free(m->registry);
        free(m);
}
