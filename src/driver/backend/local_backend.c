/*
 * See local_backend.h. A slot has at most one run, and the scheduler knows the number of cores, so a slot is free
 * whenever it launches. The one executor is this process, which is never lost.
 *
 * With spark.firesteel.task.isolation=process, slots run tasks in processes (exec/isolation/isolation.h). These load
 * the driver's modules and fetch the rows of parallelize from the driver.
 */
#include "driver/backend/local_backend.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/driver_metrics.h"
#include "driver/executor_info.h"
#include "exec/executor.h"
#include "exec/exit_hooks.h"
#include "exec/guard/crash.h"
#include "exec/guard/memory_limit.h"
#include "exec/guard/node_sample.h"
#include "exec/isolation/isolation.h"
#include "exec/app/module.h"
#include "exec/task/executor_source.h"
#include "exec/task/slot_monitor.h"
#include "rdd/pipeline/pipeline.h"
#include "rdd/rdd_registry.h"
#include "rdd/slice.h"
#include "shuffle/shuffle_store.h"
#include "store/block_name.h"
#include "store/block_store.h"
#include "store/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

enum { MAX_MODULES = 64 };

struct local_backend {
        struct scheduler_backend backend;
        struct fst_context *sc;
        struct job_runner *runner;
        int32_t executor;                        /* the scheduler's index */
        const struct local_backend_probe *probe; /* NULL: none */
        struct slot **slots;
        struct task_batch **running; /* by slot; NULL: idle */
        int n_slots;
        struct slot_monitor *watch; /* NULL: nothing to watch */
        int64_t next_check;         /* time of the next check; INT64_MAX: never */
        int64_t sample_interval;    /* spark.executor.heartbeatInterval */
        int64_t next_sample;        /* of this process and its machine */
        bool stop_sent;             /* to the task processes, at the end */
        int32_t *location_of;       /* by executor; all zero */

        pthread_mutex_t lock;
        pthread_cond_t woken_cond;
        bool woken; /* under lock */
};

static const struct local_backend_probe *probe_of_tests;

void local_backend_set_probe(const struct local_backend_probe *probe)
{
        probe_of_tests = probe;
}

static struct local_backend *local_backend_of(struct scheduler_backend *backend)
{
        return container_of(backend, struct local_backend, backend);
}

/* SparkListenerBlockUpdated. */
static void local_backend_on_block(void *owner, const struct block_status *status)
{
        struct local_backend *b = owner;
        char text[BLOCK_NAME_SIZE];
        struct block_name name = {BLOCK_RDD, status->id.rdd, status->id.partition};
        listener_bus_post_block_updated(
                b->sc->bus,
                &(struct block_updated){.block = {.manager = {"driver", b->sc->host, b->sc->block_manager_port},
                                                  .block_id = block_name_format(name, text),
                                                  .level = status->level,
                                                  .memory_size = (int64_t)status->memory_bytes,
                                                  .disk_size = (int64_t)status->disk_bytes}});
}

static void local_backend_on_unpersisted(void *owner, int rdd, bool blocking)
{
        struct local_backend *b = owner;
        block_store_remove_rdd(b->sc->env.blocks, rdd);
        listener_bus_post_unpersist_rdd(b->sc->bus, &(struct unpersist_rdd){rdd});
}

static void local_backend_slot_done(void *owner, struct task_batch *run)
{
        struct local_backend *b = owner;
        executor_source_ended(driver_metrics_tasks(b->sc->metrics), run);
        if (b->probe)
                b->probe->done(b->sc, run);
        job_runner_post_run_done(b->runner, run);
}

/* --------------------------------------------------------------------------------------------------- isolation */

static int local_backend_fetch_slice(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice)
{
        struct local_backend *b = owner;
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *at = rdd_registry_find(b->sc, rdd);
        int r = at ? slice_encode(at, partition, slice, &error)
                   : error_set(&error, -ENOENT, "RDD %d is not a collection of the driver", rdd);
        return r ? task_run_fail_with(run, r, &error) : 0;
}

static const struct slice_source slices = {.fetch = local_backend_fetch_slice};

static void local_backend_prepare_isolation(struct local_backend *b)
{
        const struct module *modules[MAX_MODULES];
        size_t n = MIN(module_list(modules, MAX_MODULES), (size_t)MAX_MODULES);
        for (size_t i = 0; i < n; i++)
                isolation_add_module(b->sc->env.isolation, modules[i]->path);
        b->sc->env.slices = &slices;
        b->sc->env.slice_owner = b;
}

static void local_backend_not_killed(void *owner, const char *reason)
{
        log_error("Executor", "The process is not killed: with a local master it is the driver, too");
}

/* Saved results stay. The others are lost, as if the kernel killed the process. */
static void local_backend_end_for_memory(void *owner, const char *reason)
{
        crash_say(reason);
        exit_hooks_exit(EXECUTOR_EXIT_OUT_OF_MEMORY);
}

static int local_backend_start_watch(struct local_backend *b, struct fst_error *error)
{
        bool reaper;
        int r = conf_get_bool(b->sc->conf, "spark.task.reaper.enabled", &reaper, error);
        if (r || !(reaper || b->sc->env.isolation || b->sc->in_group))
                return r;
        r = slot_monitor_new(&(struct slot_monitor_options){.conf = b->sc->conf,
                                                            .slots = b->slots,
                                                            .n = b->n_slots,
                                                            .env = &b->sc->env,
                                                            .memory_remedy =
                                                                    "raise the limit of the group, make "
                                                                    "spark.driver.memory smaller so that tasks "
                                                                    "spill sooner, or run fewer tasks at a time",
                                                            .end_executor = local_backend_not_killed,
                                                            .end_for_memory = local_backend_end_for_memory,
                                                            .owner = b},
                             &b->watch, error);
        b->next_check = r ? INT64_MAX : 0;
        return r;
}

/* ---------------------------------------------------------------------------------------------------- samples */

/* The sample has what the heartbeats of executors report. */
static void local_backend_sample(struct local_backend *b)
{
        const struct memory_manager *memory = b->sc->env.memory;
        struct executor_metrics_update update = {
                .executor_id = "driver",
                .metrics = {.execution_memory = (int64_t)memory_manager_execution_used(memory),
                            .storage_memory = (int64_t)memory_manager_storage_used(memory),
                            .resident_bytes = process_resident_bytes()}};
        node_sample_read(&update.node);
        listener_bus_post_executor_metrics_update(b->sc->bus, &update);
}

/* Reads the interval. The first sample is the base of the next one. */
static int local_backend_start_samples(struct local_backend *b, struct fst_error *error)
{
        int64_t interval_ms;
        int r = conf_get_ms(b->sc->conf, "spark.executor.heartbeatInterval", &interval_ms, error);
        if (r < 0)
                return r;
        b->sample_interval = MAX(interval_ms, (int64_t)1) * 1000000;
        b->next_sample = now_ns();
        return 0;
}

/* ------------------------------------------------------------------------------------------------- operations */

static int local_start(struct scheduler_backend *backend, struct job_runner *runner, struct fst_error *error)
{
        struct local_backend *b = local_backend_of(backend);
        b->runner = runner;
        b->executor = job_runner_executor_added(
                runner, &(struct executor_info){.spec = {.id = "driver", .host = b->sc->host, .cores = b->n_slots},
                                                .memory = -1});
        b->location_of = new_array(int32_t, (size_t)b->executor + 1);
        block_store_set_observer(b->sc->env.blocks, local_backend_on_block, b);
        b->sc->registry.locations =
                (struct rdd_block_locations){.unpersisted = local_backend_on_unpersisted, .owner = b};
        int r = exec_env_bind_slots(&b->sc->env, b->sc->conf, b->n_slots, error);
        if (b->sc->env.isolation)
                local_backend_prepare_isolation(b);
        for (int s = 0; s < b->n_slots && r == 0; s++)
                r = slot_new(s, &b->sc->env, local_backend_slot_done, b, &b->slots[s], error);
        if (r == 0)
                r = local_backend_start_samples(b, error);
        return r ? r : local_backend_start_watch(b, error);
}

static void local_launch(struct scheduler_backend *backend, int executor, struct task_batch *run)
{
        struct local_backend *b = local_backend_of(backend);
        for (run->slot = 0; b->running[run->slot];)
                run->slot++;
        b->running[run->slot] = run;
        if (b->probe)
                b->probe->launched(b->sc, run);
        executor_source_began(driver_metrics_tasks(b->sc->metrics));
        slot_submit(b->slots[run->slot], run);
}

/* Marks the run's slot as idle. */
static void local_run_returned(struct scheduler_backend *backend, struct task_batch *run)
{
        struct local_backend *b = local_backend_of(backend);
        b->running[run->slot] = NULL;
        for (int i = 0; b->watch && i < run->n; i++)
                if (__atomic_load_n(&run->tasks[i].killed, __ATOMIC_RELAXED))
                        slot_monitor_ended(b->watch, run->tasks[i].info.id);
}

static void local_kill_task(struct scheduler_backend *backend, int executor, int64_t task_id, bool interrupt,
                            const char *reason)
{
        struct local_backend *b = local_backend_of(backend);
        for (int s = 0; s < b->n_slots; s++) {
                struct task_batch *run = b->running[s];
                for (int i = 0; run && i < run->n; i++) {
                        if (run->tasks[i].info.id != task_id)
                                continue;
                        log_info("Executor",
                                 "Executor is trying to kill task %d.%d in stage %d.%d (TID %" PRId64 "), reason: %s",
                                 run->tasks[i].index, run->tasks[i].info.attempt, run->tasks[i].info.stage,
                                 run->tasks[i].info.stage_attempt, task_id, reason);
                        if (b->watch)
                                slot_monitor_killed(b->watch, s, task_id, now_ns());
                        slot_kill(b->slots[s], task_id, interrupt);
                        return;
                }
        }
}

static void local_locate(struct scheduler_backend *backend, struct shuffle_reader_env *inputs,
                         const int32_t **location_of, int *n_executors)
{
        struct local_backend *b = local_backend_of(backend);
        inputs->locations = new0(struct shuffle_location);
        inputs->locations[0] = (struct shuffle_location){.executor = b->executor};
        inputs->n_locations = 1;
        inputs->store = b->sc->env.shuffles;
        inputs->space = &b->sc->env.shuffles->space;
        *location_of = b->location_of;
        *n_executors = b->executor + 1;
}

static void local_remove_output(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                                int64_t task_id)
{
        shuffle_store_remove(local_backend_of(backend)->sc->env.shuffles, shuffle_id, map_partition, task_id);
}

static void local_stage_removed(struct scheduler_backend *backend, struct stage_context *work)
{
        /* Slots hold their own references. */
}

static void local_wait(struct scheduler_backend *backend, int64_t deadline)
{
        struct local_backend *b = local_backend_of(backend);
        deadline = MIN(MIN(deadline, b->next_check), b->next_sample);
        struct timespec until = timespec_of_ns(deadline);
        pthread_mutex_lock(&b->lock);
        while (!b->woken)
                if (deadline == INT64_MAX)
                        pthread_cond_wait(&b->woken_cond, &b->lock);
                else if (pthread_cond_timedwait(&b->woken_cond, &b->lock, &until))
                        break;
        b->woken = false;
        pthread_mutex_unlock(&b->lock);
        if (b->watch && b->next_check <= now_ns())
                b->next_check = slot_monitor_tick(b->watch, now_ns());
        if (b->next_sample <= now_ns()) {
                local_backend_sample(b);
                b->next_sample = now_ns() + b->sample_interval;
        }
}

static void local_wake(struct scheduler_backend *backend)
{
        struct local_backend *b = local_backend_of(backend);
        pthread_mutex_lock(&b->lock);
        if (!b->woken)
                pthread_cond_signal(&b->woken_cond);
        b->woken = true;
        pthread_mutex_unlock(&b->lock);
}

/* Called at the end only. Functions that do not check for cancellation are not waited for if they can be killed. */
static bool local_idle(struct scheduler_backend *backend)
{
        struct local_backend *b = local_backend_of(backend);
        for (int s = 0; s < b->n_slots && b->sc->env.isolation && !b->stop_sent; s++)
                for (int i = 0; b->running[s] && i < b->running[s]->n; i++)
                        slot_kill(b->slots[s], b->running[s]->tasks[i].info.id, true);
        b->stop_sent = true;
        for (int s = 0; s < b->n_slots; s++)
                if (b->running[s])
                        return false;
        return true;
}

static void local_free(struct scheduler_backend *backend)
{
        struct local_backend *b = local_backend_of(backend);
        slot_monitor_free(b->watch);
        for (int s = 0; s < b->n_slots; s++)
                slot_free(b->slots[s]);
        b->sc->registry.locations = (struct rdd_block_locations){0};
        if (b->sc->env.blocks)
                block_store_set_observer(b->sc->env.blocks, NULL, NULL);
        free(b->slots);
        free(b->running);
        free(b->location_of);
        pthread_mutex_destroy(&b->lock);
        pthread_cond_destroy(&b->woken_cond);
        free(b);
}

static struct slot *const *local_backend_slots(struct scheduler_backend *backend, int *n)
{
        const struct local_backend *b = local_backend_of(backend);
        *n = b->n_slots;
        return b->slots;
}

static const struct scheduler_backend_class local_backend_class = {
        .name = "local",
        .start = local_start,
        .launch = local_launch,
        .run_returned = local_run_returned,
        .kill_task = local_kill_task,
        .locate = local_locate,
        .remove_output = local_remove_output,
        .stage_removed = local_stage_removed,
        .wait = local_wait,
        .wake = local_wake,
        .idle = local_idle,
        .slots = local_backend_slots,
        .free = local_free,
};

struct scheduler_backend *local_backend_new(struct fst_context *sc)
{
        struct local_backend *b = new0(struct local_backend);
        b->backend.class = &local_backend_class;
        b->sc = sc;
        b->probe = probe_of_tests;
        b->next_check = INT64_MAX;
        b->next_sample = INT64_MAX;
        b->n_slots = sc->master.threads;
        b->slots = new_array(struct slot *, (size_t)b->n_slots);
        b->running = new_array(struct task_batch *, (size_t)b->n_slots);
        pthread_mutex_init(&b->lock, NULL);
        cond_init_monotonic(&b->woken_cond);
        return &b->backend;
}
