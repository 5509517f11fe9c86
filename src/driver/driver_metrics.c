/* See driver_metrics.h. */
#include "driver/driver_metrics.h"

#include "base/clock.h"
#include "driver/context.h"
#include "driver/backend/cluster_manager.h"
#include "driver/events/app_status.h"
#include "exec/executor_sinks.h"
#include "exec/task/executor_source.h"
#include "metrics/metrics_conf.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_system.h"

#include <pthread.h>

#define MAX_RUNNING_STAGES 64

struct driver_metrics {
        struct metrics_registry *registry;
        struct metrics_system *system; /* NULL: no sinks */
        struct metric_timer *messages;
        struct executor_source *tasks;
        struct fst_context *sc;
        pthread_mutex_t lock;
        struct scheduler_counts scheduler; /* under the lock */
};

/* One queue serves all listeners. Each of Spark's queues that has one here shows it. */
static void metrics_source_listener_bus(void *owner, struct metrics_snapshot *out)
{
        const char *queues[LISTENER_QUEUES];
        struct listener_bus_counts counts = listener_bus_counts(owner);
        size_t n = listener_bus_queues(owner, queues);
        metrics_counter(out, "LiveListenerBus.numEventsPosted", (int64_t)counts.posted);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *size = mem_printf("LiveListenerBus.queue.%s.size", queues[i]);
                _cleanup_free_ char *dropped = mem_printf("LiveListenerBus.queue.%s.numDroppedEvents", queues[i]);
                metrics_gauge(out, size, (int64_t)counts.pending);
                metrics_counter(out, dropped, (int64_t)counts.dropped);
        }
}

static void metrics_source_scheduler(void *owner, struct metrics_snapshot *out)
{
        struct driver_metrics *m = owner;
        struct stage_status stages[MAX_RUNNING_STAGES];
        struct app_status_totals t = app_status_totals(m->sc->app_status);
        int64_t active = (int64_t)app_status_active_jobs(m->sc->app_status, NULL, 0);
        pthread_mutex_lock(&m->lock);
        const struct scheduler_counts c = m->scheduler;
        pthread_mutex_unlock(&m->lock);
        metrics_gauge(out, "DAGScheduler.job.activeJobs", active);
        metrics_gauge(out, "DAGScheduler.job.allJobs", active + t.succeeded_jobs + t.failed_jobs);
        metrics_gauge(out, "DAGScheduler.stage.failedStages", c.failed_stages);
        metrics_gauge(out, "DAGScheduler.stage.runningStages",
                      (int64_t)app_status_active_stages(m->sc->app_status, stages, MAX_RUNNING_STAGES));
        metrics_gauge(out, "DAGScheduler.stage.waitingStages", c.waiting_stages);
        if (!c.allocates)
                return;
        const struct {
                const char *name;
                int64_t value;
        } gauges[] = {{"numberAllExecutors", c.executors},
                      {"numberExecutorsPendingToRemove", c.executors_to_remove},
                      {"numberExecutorsToAdd", c.executors_to_add},
                      {"numberMaxNeededExecutors", c.executors_needed},
                      {"numberTargetExecutors", c.executors_target}},
          counters[] = {{"numberExecutorsDecommissionUnfinished", c.decommission_unfinished},
                        {"numberExecutorsExitedUnexpectedly", c.exited_unexpectedly},
                        {"numberExecutorsGracefullyDecommissioned", c.gracefully_decommissioned},
                        {"numberExecutorsKilledByDriver", c.killed_by_driver}};
        for (size_t i = 0; i < ARRAY_SIZE(gauges); i++) {
                _cleanup_free_ char *name = mem_printf("ExecutorAllocationManager.executors.%s", gauges[i].name);
                metrics_gauge(out, name, gauges[i].value);
        }
        for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
                _cleanup_free_ char *name = mem_printf("ExecutorAllocationManager.executors.%s", counters[i].name);
                metrics_counter(out, name, counters[i].value);
        }
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
        metrics_counter(out, "appStatus.tasks.skippedTasks", t.skipped_tasks);
        metrics_counter(out, "appStatus.tasks.excludedExecutors", t.excluded_executors);
        metrics_counter(out, "appStatus.tasks.unexcludedExecutors", t.unexcluded_executors);
        metrics_counter(out, "appStatus.tasks.blackListedExecutors", t.excluded_executors);
        metrics_counter(out, "appStatus.tasks.unblackListedExecutors", t.unexcluded_executors);
        metrics_gauge(out, "appStatus.jobDuration", t.job_ms);
}

static int driver_metrics_add_sources(struct driver_metrics *m, struct fst_error *error)
{
        struct fst_context *sc = m->sc;
        bool app_status;
        int r = conf_get_bool(sc->conf, "spark.metrics.appStatusSource.enabled", &app_status, error);
        if (r == 0)
                r = executor_sinks_add_sources(
                        m->registry,
                        &(struct executor_sinks_options){.conf = sc->conf,
                                                         .env = &sc->env,
                                                         .cores = sc->manager->in_process ? sc->master.threads : 0},
                        &m->tasks, error);
        if (r)
                return r;
        m->messages = metrics_registry_timer(m->registry, "DAGScheduler.messageProcessingTime", now_ns());
        metrics_registry_add_source(m->registry, metrics_source_listener_bus, sc->bus);
        metrics_registry_add_source(m->registry, metrics_source_scheduler, m);
        metrics_registry_add_source(m->registry, metrics_source_block_manager, sc->app_status);
        if (app_status)
                metrics_registry_add_source(m->registry, metrics_source_app_status, sc->app_status);
        return 0;
}

int driver_metrics_start(struct fst_context *sc, struct driver_metrics **out, struct fst_error *error)
{
        _cleanup_free_ char *prefix = NULL;
        int r = metrics_conf_prefix(sc->conf, sc->app_id, "driver", &prefix, error);
        if (r)
                return r;
        struct driver_metrics *m = new0(struct driver_metrics);
        m->sc = sc;
        pthread_mutex_init(&m->lock, NULL);
        m->registry = metrics_registry_new(prefix);
        r = driver_metrics_add_sources(m, error);
        if (r == 0)
                r = metrics_system_start(&(struct metrics_system_options){.instance = "driver",
                                                                          .conf = sc->conf,
                                                                          .conf_dir = getenv("SPARK_CONF_DIR"),
                                                                          .registry = m->registry,
                                                                          .app_id = sc->app_id,
                                                                          .executor_id = "driver"},
                                         &m->system, error);
        if (r) {
                driver_metrics_stop(m);
                return r;
        }
        listener_bus_measure(sc->bus, m->registry);
        *out = m;
        return 0;
}

void driver_metrics_measure(struct driver_metrics *m, struct metrics_snapshot *out)
{
        metrics_registry_snapshot(m->registry, now_ns(), out);
}

void driver_metrics_set_scheduler(struct driver_metrics *m, const struct scheduler_counts *counts)
{
        if (!m)
                return;
        pthread_mutex_lock(&m->lock);
        m->scheduler = *counts;
        pthread_mutex_unlock(&m->lock);
}

void driver_metrics_message_done(const struct driver_metrics *m, int64_t began)
{
        int64_t now = m ? now_ns() : 0;
        if (m)
                metric_timer_update(m->messages, now - began, now);
}

struct metric_meter *driver_metrics_meter(const struct driver_metrics *m, const char *source, const char *name)
{
        if (!m)
                return NULL;
        _cleanup_free_ char *whole = mem_printf("%s.%s", source, name);
        return metrics_registry_meter(m->registry, whole, now_ns());
}

struct executor_source *driver_metrics_tasks(const struct driver_metrics *m)
{
        return m ? m->tasks : NULL;
}

void driver_metrics_end(struct driver_metrics *m)
{
        if (m)
                metrics_system_stop(steal(m->system));
}

void driver_metrics_stop(struct driver_metrics *m)
{
        if (!m)
                return;
        driver_metrics_end(m);
        metrics_registry_free(m->registry);
        executor_source_free(m->tasks);
        pthread_mutex_destroy(&m->lock);
        free(m);
}
