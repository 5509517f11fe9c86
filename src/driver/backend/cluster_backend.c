/*
 * See cluster_backend.h. The scheduler's thread runs the loop while it waits, so nothing is locked. Other threads call
 * `wake` only.
 *
 * Messages to an executor are collected while the scheduler works and sent when it waits again: the launches of one
 * round are one message, and so are the removals. Consecutive packed messages form one message (task_batch_wire.h).
 * Collected messages are flushed before any message that must not overtake them.
 */
#include "driver/backend/cluster_backend_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/driver_metrics.h"
#include "driver/backend/driver_transfer.h"
#include "driver/backend/shuffle_service_cleanup.h"
#include "driver/backend/executor_table.h"
#include "driver/messages/stage_shipping.h"
#include "driver/backend/unpersist_wait.h"
#include "exec/actions/row_sink.h"
#include "exec/exit_hooks.h"
#include "exec/executor.h"
#include "exec/guard/crash.h"
#include "exec/task/task_batch_wire.h"
#include "exec/task/slot_monitor.h"
#include "net/security.h"
#include "process/loop_wait.h"
#include "rpc/control.pb-c.h"
#include "rpc/rpc.h"
#include "shuffle/remote_shuffle.h"
#include "store/file_cipher.h"

#define STOP_TIMEOUT_MS 3000
#define TOLD_TIMEOUT_MS 1000                         /* until executors have ended, when the process ends */
#define LEAVE_TIMEOUT_MS 20000                       /* Kubernetes kills a stopped pod after 30 s */
#define DRAIN_MS 500                                 /* for tasks to end before their executors are stopped */
#define MAX_UNAUTHORIZED_MESSAGE ((size_t)256 << 10) /* from peers that have not registered */

static struct cluster_backend *cluster_backend_of(struct scheduler_backend *backend)
{
        return container_of(backend, struct cluster_backend, backend);
}

double cluster_backend_disk_usage(struct cluster_backend *backend, const char *executor_id)
{
        const struct remote_executor *x = executor_table_find(&backend->executors, executor_id);
        return x && x->disk_usage > 0 ? x->disk_usage : -1;
}

struct rpc_env *cluster_backend_rpc(struct cluster_backend *b)
{
        return b->rpc;
}

uv_loop_t *cluster_backend_loop(struct cluster_backend *b)
{
        return &b->loop;
}

/* -------------------------------------------------------------------------------------------------- sending */

void cluster_flush(struct remote_executor *x)
{
        Firesteel__LaunchTasks driver = FIRESTEEL__LAUNCH_TASKS__INIT;
        if (x->launches.len && x->backend->epoch) {
                driver.epoch = x->backend->epoch;
                task_batch_append(&driver.base, &x->launches);
        }
        if (x->launches.len && x->ref)
                rpc_send(x->ref, FIRESTEEL__CONTROL_TYPE__LAUNCH_TASKS, x->launches.data, x->launches.len, NULL);
        if (x->removals.len && x->ref)
                rpc_send(x->ref, FIRESTEEL__CONTROL_TYPE__REMOVE, x->removals.data, x->removals.len, NULL);
        buf_reset(&x->launches);
        buf_reset(&x->removals);
}

static void cluster_flush_all(struct cluster_backend *b)
{
        for (struct remote_executor *x; (x = executor_table_take_dirty(&b->executors));)
                cluster_flush(x);
}

void cluster_append_removal(struct cluster_backend *b, struct remote_executor *x, const Firesteel__Remove *removal)
{
        size_t size = protobuf_c_message_get_packed_size(&removal->base);
        buf_reserve(&x->removals, size);
        protobuf_c_message_pack(&removal->base, (uint8_t *)x->removals.data + x->removals.len);
        x->removals.len += size;
        executor_table_mark_dirty(&b->executors, x);
}

/* Fails the run's tasks before they are sent. */
static void cluster_fail_run(struct cluster_backend *b, struct task_batch *run, int status, const char *why)
{
        struct remote_executor *x = executor_table_at(&b->executors, run->executor);
        executor_free_slot(x, run);
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].state = TASK_FAILED;
                run->tasks[i].status = status;
                run->tasks[i].message = mem_strdup(why);
                run->tasks[i].start_ms = run->tasks[i].finish_ms = time_of_day_ms();
        }
        job_runner_post_run_done(b->runner, run);
}

static void cluster_launch(struct scheduler_backend *backend, int executor, struct task_batch *run)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        struct fst_error error = FST_ERROR_INIT;
        if (run->held) {
                cluster_launch_held(b, x, run);
                return;
        }
        executor_take_slot(x, run);
        int r = stage_shipping_send(b->stages, run->work, executor, x->ref, b->executors.n, &error);
        if (r) {
                cluster_fail_run(b, run, r, error_message(&error));
                error_deinit(&error);
                return;
        }
        if (b->manager->class->launching)
                b->manager->class->launching(b->manager, x->id, run);
        task_batch_append_launch(run, &x->launches);
        executor_table_mark_dirty(&b->executors, x);
}

static void cluster_run_returned(struct scheduler_backend *backend, struct task_batch *run)
{
        executor_free_slot(executor_table_at(&cluster_backend_of(backend)->executors, run->executor), run);
}

static void cluster_kill_task(struct scheduler_backend *backend, int executor, int64_t task_id, bool interrupt,
                              const char *reason)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        if (!x || x->state != EXECUTOR_ALIVE)
                return;
        cluster_flush(x);
        Firesteel__KillTask kill = FIRESTEEL__KILL_TASK__INIT;
        kill.task_id = task_id;
        kill.interrupt = interrupt;
        kill.reason = (char *)(reason ? reason : "");
        kill.epoch = b->epoch;
        rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__KILL_TASK, &kill.base, NULL);
}

void cluster_remove_output(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                           int64_t task_id)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        if (x && x->state == EXECUTOR_GONE && x->service_port && b->service_cleanup && !b->stopping)
                shuffle_service_cleanup_add(b->service_cleanup, x->host, x->service_port, x->id, shuffle_id,
                                            map_partition, task_id);
        if (!x || x->state != EXECUTOR_ALIVE || b->stopping)
                return;
        Firesteel__MapOutput output = FIRESTEEL__MAP_OUTPUT__INIT;
        output.shuffle = shuffle_id;
        output.map_partition = map_partition;
        output.task_id = task_id;
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.n_outputs = 1;
        removal.outputs = &(Firesteel__MapOutput *){&output};
        cluster_append_removal(b, x, &removal);
}

static void cluster_stage_removed(struct scheduler_backend *backend, struct stage_context *work)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        Firesteel__StageHeader header = FIRESTEEL__STAGE_HEADER__INIT;
        header.stage_id = work->stage_id;
        header.stage_attempt = work->stage_attempt;
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.n_stages = 1;
        removal.stages = &(Firesteel__StageHeader *){&header};
        for (int i = 0; i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (x->state == EXECUTOR_ALIVE && !b->stopping && stage_shipping_has(b->stages, work, i))
                        cluster_append_removal(b, x, &removal);
        }
        stage_shipping_forget(b->stages, work);
}

static void cluster_locate(struct scheduler_backend *backend, struct shuffle_reader_env *inputs,
                           const int32_t **location_of, int *n_executors)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        inputs->here = -1;
        if (inputs->n_inputs) /* one list of locations for all executors */
                executor_table_locate(&b->executors, &inputs->locations, &inputs->n_locations);
        *location_of = b->executors.location_of;
        *n_executors = b->executors.n;
}

static int cluster_cached_on(struct scheduler_backend *backend, int rdd, int partition, int *executors, int max)
{
        return driver_transfer_cached_on(cluster_backend_of(backend)->transfer, rdd, partition, executors, max);
}

static void cluster_kill_executor(struct scheduler_backend *backend, int executor, bool decommission,
                                  const char *reason)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        if (!x || x->state == EXECUTOR_GONE)
                return;
        if (decommission) {
                cluster_decommission(b, x, false, reason);
                return;
        }
        log_info("CoarseGrainedSchedulerBackend", "Killing executor %s: %s", x->id, reason);
        cluster_kill(b, x->id, true);
}

/* ------------------------------------------------------------------------------- work of other threads */

static void cluster_on_wake(void *owner)
{
        struct cluster_backend *b = owner;
        uv_async_send(&b->wake);
}

static void cluster_on_remove(void *owner, int executor, const Firesteel__Remove *removal)
{
        struct cluster_backend *b = owner;
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        if (x && x->state == EXECUTOR_ALIVE && !b->stopping)
                cluster_append_removal(b, x, removal);
}

static void cluster_on_rdd_removed(void *wait, struct rpc_answer *answer)
{
        unpersist_wait_answered(wait);
}

static void cluster_on_remove_rdd(void *owner, int rdd, struct unpersist_wait *wait)
{
        struct cluster_backend *b = owner;
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.n_rdds = 1;
        removal.rdds = &rdd;
        for (int i = 0; i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (!wait) {
                        cluster_on_remove(b, i, &removal);
                } else if (x->state == EXECUTOR_ALIVE && x->ref && !b->stopping) {
                        unpersist_wait_expect(wait);
                        cluster_flush(x); /* keeps the order of messages */
                        if (rpc_ask_packed(x->ref, FIRESTEEL__CONTROL_TYPE__REMOVE, &removal.base, NULL, 0,
                                           cluster_on_rdd_removed, wait) < 0)
                                unpersist_wait_answered(wait);
                }
        }
}

static void cluster_on_replicate(void *owner, int executor, const Firesteel__BlockNames *names)
{
        struct cluster_backend *b = owner;
        struct remote_executor *x = executor_table_at(&b->executors, executor);
        if (x && x->state == EXECUTOR_ALIVE && x->ref && !b->stopping)
                rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__REPLICATE, &names->base, NULL);
}

static void cluster_on_files(void *owner, const Firesteel__Files *files)
{
        struct cluster_backend *b = owner;
        for (int i = 0; i < b->executors.n; i++)
                if (b->executors.at[i]->state == EXECUTOR_ALIVE)
                        rpc_send_packed(b->executors.at[i]->ref, FIRESTEEL__CONTROL_TYPE__ADD_FILES, &files->base,
                                        NULL);
}

static void cluster_on_rdd_block(void *owner, int executor, int rdd, int partition, bool in_memory, bool on_disk)
{
        struct cluster_backend *b = owner;
        job_runner_rdd_block(b->runner, executor, rdd, partition, in_memory, on_disk);
}

static void cluster_on_rdd_unpersisted(void *owner, int rdd)
{
        struct cluster_backend *b = owner;
        job_runner_rdd_unpersisted(b->runner, rdd);
}

/* The task of a result that is fetched apart from its status. Its run may be gone. */
struct awaited_result {
        int executor, slot, at;
        int64_t first_task_id;
};

static void cluster_forget_result(struct cluster_backend *b, const struct remote_executor *x, int64_t task_id)
{
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        removal.n_task_results = 1;
        removal.task_results = &task_id;
        cluster_on_remove(b, x->index, &removal);
}

bool cluster_awaits_results(const struct task_batch *run)
{
        for (int i = 0; i < run->n; i++)
                if (run->tasks[i].result_waits)
                        return true;
        return false;
}

/* Finishes the run if all of its results have arrived. */
static void cluster_finish_if_complete(struct cluster_backend *b, struct task_batch *run)
{
        if (!cluster_awaits_results(run))
                job_runner_run_done(b->runner, run);
}

static void cluster_on_result(void *owner, void *cookie, void *bytes, size_t len, int status, const char *message)
{
        struct cluster_backend *b = owner;
        struct awaited_result *awaited = cookie;
        struct remote_executor *x = executor_table_at(&b->executors, awaited->executor);
        struct task_batch *run = x->running[awaited->slot];
        if (run && run->tasks[0].info.id == awaited->first_task_id) {
                struct slot_task *t = &run->tasks[awaited->at];
                int64_t id = t->info.id;
                t->result_waits = 0;
                if (bytes) {
                        buf_deinit(&t->encoded);
                        t->encoded = (struct buf){.data = steal(bytes), .len = len, .cap = len};
                } else {
                        t->state = status == -ENOMEM ? TASK_FAILED_FATAL : TASK_FAILED; /* no memory here */
                        t->status = status;
                        t->message = mem_printf("its result could not be fetched from executor %s: %s", x->id,
                                                message ? message : strerror(-status));
                }
                cluster_forget_result(b, x, id);
                cluster_finish_if_complete(b, run);
        }
        free(bytes);
        free(awaited);
}

static const struct driver_transfer_ops transfer_ops = {
        .wake = cluster_on_wake,
        .remove = cluster_on_remove,
        .remove_rdd = cluster_on_remove_rdd,
        .replicate = cluster_on_replicate,
        .result = cluster_on_result,
        .files = cluster_on_files,
        .rdd_block = cluster_on_rdd_block,
        .rdd_unpersisted = cluster_on_rdd_unpersisted,
};

/*
 * Whether the process may keep @bytes more of results that came with a status. Measures once per MEM_LARGE bytes, since
 * small allocations take the reserve of a control group without a question.
 */
static bool cluster_has_room_for_results(struct cluster_backend *b, size_t bytes)
{
        size_t more = b->unmeasured_results + bytes;
        bool has = mem_has_room(more);
        if (has)
                b->unmeasured_results = more < MEM_LARGE ? more : 0;
        else
                b->unmeasured_results = MEM_LARGE; /* measure again for the next result */
        return has;
}

/* Count the run's results, request those that did not come with it, and drop unwanted ones on the executor. */
void cluster_fetch_results(struct cluster_backend *b, struct remote_executor *x, struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->state != TASK_SUCCEEDED)
                        t->result_waits = 0; /* only a success has a result */
                int64_t bytes = (int64_t)(t->result_waits + t->encoded.len);
                if (bytes == 0 || t->state != TASK_SUCCEEDED)
                        continue;
                if (!job_runner_wants_result(b->runner, t->info.id, bytes)) {
                        if (t->result_waits)
                                cluster_forget_result(b, x, t->info.id);
                        t->result_waits = 0;
                        t->state = TASK_KILLED;
                        t->message = mem_strdup("its result is not needed");
                        continue;
                }
                if (t->encoded.len && !cluster_has_room_for_results(b, t->encoded.len)) {
                        t->state = TASK_FAILED_FATAL;
                        t->status = -ENOMEM;
                        t->message = mem_printf(NO_DRIVER_MEMORY, t->encoded.len);
                        buf_deinit(&t->encoded);
                }
                if (!t->result_waits)
                        continue;
                struct awaited_result *awaited = new0(struct awaited_result);
                *awaited = (struct awaited_result){x->index, run->slot, i, run->tasks[0].info.id};
                driver_transfer_fetch_result(b->transfer, x, t->info.id, t->result_waits, awaited);
        }
        cluster_finish_if_complete(b, run);
}

/* ------------------------------------------------------------------------------------------------------ the loop */

/* The loop returns after it. */
static void cluster_on_woken(uv_async_t *handle)
{
        cluster_remote_shuffle_reply(handle->data);
}

/* libuv runs a timer that is due before it waits for events. It does not wait after uv_stop. */
static void cluster_on_deadline(uv_timer_t *timer)
{
        uv_stop(timer->loop);
}

static void cluster_wait(struct scheduler_backend *backend, int64_t deadline)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        bool took = driver_transfer_take(b->transfer);
        if (b->manager->class->waiting && b->runner)
                b->manager->class->waiting(b->manager, job_runner_waiting_tasks(b->runner));
        cluster_flush_all(b);
        if (took) { /* the work may have freed cores or ended a stage, which the scheduler handles first */
                uv_run(&b->loop, UV_RUN_NOWAIT);
                return;
        }
        if (deadline == INT64_MAX) {
                uv_timer_stop(&b->deadline);
        } else {
                uv_update_time(&b->loop);
                uv_timer_start(&b->deadline, cluster_on_deadline, ms_until(deadline, now_ns()), 0); /* INT64_MIN: now */
        }
        uv_run(&b->loop, UV_RUN_ONCE);
}

static void cluster_wake(struct scheduler_backend *backend)
{
        uv_async_send(&cluster_backend_of(backend)->wake);
}

static bool cluster_all_returned(const struct cluster_backend *b)
{
        for (int i = 0; i < b->executors.n; i++) {
                const struct remote_executor *x = b->executors.at[i];
                for (int s = 0; x->state != EXECUTOR_GONE && s < x->slots; s++)
                        if (x->running[s])
                                return false;
        }
        return true;
}

static void cluster_on_drain_timeout(uv_timer_t *timer)
{
        struct cluster_backend *b = timer->data;
        b->drained = true;
}

/* Cancelled tasks get a moment to report. Those that do not are ended with their executors. */
static bool cluster_idle(struct scheduler_backend *backend)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        if (b->drained || cluster_all_returned(b))
                return true;
        if (!uv_is_active((uv_handle_t *)&b->drain))
                uv_timer_start(&b->drain, cluster_on_drain_timeout, DRAIN_MS, 0);
        return false;
}

/* ---------------------------------------------------------------------------------------------- start and end */

static int cluster_rpc_options(struct rpc_options *options, const struct fst_conf *conf, struct fst_error *error)
{
        rpc_options_init(options);
        options->name = "sparkDriver";
        options->max_guest_bytes = MAX_UNAUTHORIZED_MESSAGE;
        return rpc_options_configure(options, conf, error);
}

static int cluster_bind_port(struct cluster_backend *b, struct fst_error *error)
{
        const struct fst_conf *conf = b->sc->conf;
        _cleanup_free_ char *bind = NULL;
        struct rpc_options options;
        int64_t port, retries;
        int r;
        if ((r = conf_get_string(conf, "spark.driver.bindAddress", &bind, error)) ||
            (r = conf_get_int(conf, "spark.driver.port", &port, error)) ||
            (r = conf_get_int(conf, "spark.port.maxRetries", &retries, error)) ||
            (r = cluster_rpc_options(&options, conf, error)) ||
            (r = rpc_port_open(&b->port, &options, bind ? bind : b->sc->host, b->sc->host, (int)port, (int)retries,
                               error)))
                return r;
        /* Publish the driver's port, as Spark does. */
        char text[16];
        snprintf(text, sizeof(text), "%d", b->port.number);
        conf_set(b->sc->conf, "spark.driver.port", text);
        return 0;
}

/* The meter of messages of a type, "Rpc.received.HEARTBEAT"; as rpc_options.meter. */
static struct metric_meter *cluster_find_meter(void *owner, uint16_t type, bool sent)
{
        const struct cluster_backend *b = owner;
        const ProtobufCEnumValue *value =
                protobuf_c_enum_descriptor_get_value(&firesteel__control_type__descriptor, type);
        return value ? driver_metrics_meter(b->sc->metrics, sent ? "Rpc.sent" : "Rpc.received", value->name) : NULL;
}

static int cluster_listen(struct cluster_backend *b, struct fst_error *error)
{
        const struct fst_conf *conf = b->sc->conf;
        struct rpc_options options;
        int r = b->port.fd < 0 ? cluster_bind_port(b, error) : 0;
        if (r || (r = security_new(conf, b->sc->app_id, SECURITY_DRIVER, &b->security, error)) ||
            (r = cluster_rpc_options(&options, conf, error)))
                return r;
        options.app_id = b->sc->app_id;
        options.security = b->security;
        options.meter = cluster_find_meter;
        options.meter_owner = b;
        if ((r = rpc_env_new(&b->loop, &options, &b->rpc, error)) || (r = rpc_env_listen_at(b->rpc, &b->port, error)))
                return r;
        return rpc_env_register(b->rpc, "CoarseGrainedScheduler", &driver_endpoint_class, b, error);
}

static char *cluster_driver_url(const char *address)
{
        return mem_printf("spark://CoarseGrainedScheduler@%s", address);
}

static int cluster_announce(struct scheduler_backend *backend, char **app_id, struct fst_error *error)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        if (!b->manager->class->announce)
                return 0;
        int r = cluster_bind_port(b, error);
        _cleanup_free_ char *url = cluster_driver_url(b->port.address);
        return r ? r : b->manager->class->announce(b->manager, b, url, app_id, error);
}

static int cluster_make_io_secret(struct cluster_backend *b, struct fst_error *error)
{
        bool encrypt;
        int64_t bits;
        int r;
        if ((r = conf_get_bool(b->sc->conf, "spark.io.encryption.enabled", &encrypt, error)) || !encrypt ||
            (r = conf_get_int(b->sc->conf, "spark.io.encryption.keySizeBits", &bits, error)))
                return r;
        return file_secret_new((int)bits, b->io_secret, &b->io_secret_len, error);
}

/* The cluster manager may start the application again. */
static void cluster_end_for_memory(void *owner, const char *reason)
{
        crash_say(reason);
        exit_hooks_exit(EXECUTOR_EXIT_OUT_OF_MEMORY);
}

static void cluster_check_memory(uv_timer_t *timer)
{
        struct cluster_backend *b = timer->data;
        int64_t now = now_ns(), left = slot_monitor_tick(b->watch, now) - now;
        uv_timer_start(timer, cluster_check_memory, (uint64_t)MAX(left, INT64_C(0)) / 1000000, 0);
}

/* Keeps this process within its control group, as a local master does. */
static int cluster_watch_memory(struct cluster_backend *b, struct fst_error *error)
{
        const struct executor_manager_class *class = b->manager->class;
        int processes = class->group_processes ? class->group_processes(b->manager) : 1;
        if (!b->sc->in_group)
                return 0;
        int r = slot_monitor_new(&(struct slot_monitor_options){.conf = b->sc->conf,
                                                                .env = &b->sc->env,
                                                                .processes = processes,
                                                                .memory_remedy =
                                                                        "raise spark.driver.memory and the limit of "
                                                                        "the group, or save rows instead of "
                                                                        "collecting them",
                                                                .end_for_memory = cluster_end_for_memory,
                                                                .owner = b},
                                 &b->watch, error);
        if (r == 0)
                cluster_check_memory(&b->memory_check);
        return r;
}

static int cluster_start(struct scheduler_backend *backend, struct job_runner *runner, struct fst_error *error)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        int64_t timeout, interval;
        int r;
        b->runner = runner;
        if ((r = conf_get_ms(b->sc->conf, "spark.network.timeout", &timeout, error)) ||
            (r = conf_get_ms(b->sc->conf, "spark.network.timeoutInterval", &interval, error)) ||
            (r = cluster_read_decommission(b, error)) || (r = cluster_make_io_secret(b, error)) ||
            (r = cluster_ensure_secret(b, error)) || (r = cluster_listen(b, error)) ||
            (r = driver_transfer_new(b->sc, b->security, &transfer_ops, b, &b->transfer, error)) ||
            (r = shuffle_service_cleanup_new(&b->loop, b->sc->conf, b->sc->app_id, &b->service_cleanup, error)) ||
            (r = cluster_remote_shuffle_start(b, error)))
                return r;
        b->sc->block_manager_port = driver_transfer_port(b->transfer);
        b->stages = driver_transfer_ship_stages(b->transfer, &b->loop);
        driver_transfer_take(b->transfer);
        b->heartbeat_timeout_ms = timeout;
        interval = MAX(MIN(interval, timeout / 2), 1);
        uv_timer_start(&b->expiry, cluster_look_for_expired, (uint64_t)interval, (uint64_t)interval);
        _cleanup_free_ char *url = cluster_driver_url(rpc_env_address(b->rpc));
        cluster_adopt(b);
        r = b->manager->class->start(b->manager, b, url, error);
        if (r == 0)
                job_runner_publish_driver(b->runner, url);
        return r ? r : cluster_watch_memory(b, error);
}

static void cluster_close_handle(uv_handle_t *handle, void *arg)
{
        if (!uv_is_closing(handle))
                uv_close(handle, NULL);
}

static void cluster_on_rpc_closed(void *owner)
{
        *(bool *)owner = true;
}

static void cluster_send_stop(struct remote_executor *x)
{
        Firesteel__Epoch stop = FIRESTEEL__EPOCH__INIT;
        stop.epoch = x->backend->epoch;
        if (x->state == EXECUTOR_ALIVE)
                rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__STOP_EXECUTOR, &stop.base, NULL);
}

void cluster_stop_executors(struct cluster_backend *b)
{
        bool begins = !b->stopping;
        b->stopping = true; /* before the manager runs the loop: executors that register now are refused */
        if (begins && b->manager->class->ending)
                b->manager->class->ending(b->manager);
        for (int i = 0; i < b->executors.n; i++)
                cluster_send_stop(b->executors.at[i]);
}

void cluster_backend_send_stop(struct cluster_backend *b, const char *executor_id)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        if (x)
                cluster_send_stop(x);
}

static bool cluster_manager_is_stopped(void *owner)
{
        struct cluster_backend *b = owner;
        return b->manager->class->stopped(b->manager);
}

/* Executors stop by themselves when asked, within @timeout_ms. */
static void cluster_wait_for_executors(struct cluster_backend *b, int64_t timeout_ms)
{
        b->closing = true; /* before the manager runs the loop: there may be no job runner any more */
        uv_timer_stop(&b->expiry);
        cluster_stop_executors(b);
        loop_wait(&b->loop, cluster_manager_is_stopped, b, timeout_ms);
}

static void cluster_leave(struct scheduler_backend *backend)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        cluster_stop_executors(b);
        if (b->manager->class->leave)
                b->manager->class->leave(b->manager);
        if (!b->manager->class->outlives_driver) {
                /* Executors that lose their driver before they are told to stop report an error. */
                if (!b->manager->class->leave)
                        cluster_wait_for_executors(b, TOLD_TIMEOUT_MS);
                return;
        }
        cluster_wait_for_executors(b, LEAVE_TIMEOUT_MS);
        if (!b->manager->class->stopped(b->manager))
                log_warn("CoarseGrainedSchedulerBackend",
                         "The process ends before the executors of %s have ended: check that none is left",
                         b->sc->app_id);
}

/* Kills the executors that have not stopped in time. */
static void cluster_end_executors(struct cluster_backend *b)
{
        cluster_wait_for_executors(b, STOP_TIMEOUT_MS);
        b->manager->class->stop(b->manager);
        uv_run(&b->loop, UV_RUN_NOWAIT);
}

/* Informs each service once. */
static void cluster_end_services(struct cluster_backend *b)
{
        for (int i = 0; b->service_cleanup && b->manager->class->must_notify_shuffle_services && i < b->executors.n;
             i++) {
                const struct remote_executor *x = b->executors.at[i];
                int k = 0;
                while (k < i && (b->executors.at[k]->service_port != x->service_port ||
                                 strcmp(b->executors.at[k]->host, x->host) != 0))
                        k++;
                if (k == i && x->service_port)
                        shuffle_service_cleanup_end(b->service_cleanup, x->host, x->service_port);
        }
        shuffle_service_cleanup_free(b->service_cleanup);
}

static void cluster_free(struct scheduler_backend *backend)
{
        struct cluster_backend *b = cluster_backend_of(backend);
        bool closed = false;
        cluster_end_executors(b);
        if (b->sc->remote_shuffle)
                b->sc->remote_shuffle->class->stop(steal(b->sc->remote_shuffle));
        executor_table_drop_refs(&b->executors);
        cluster_adoption_deinit(b);
        if (b->rpc) {
                rpc_env_close(b->rpc, 100, cluster_on_rpc_closed, &closed);
                while (!closed)
                        uv_run(&b->loop, UV_RUN_ONCE);
        }
        rpc_port_close(&b->port);
        stage_shipping_free(b->stages);
        driver_transfer_free(b->transfer); /* its threads wake the loop */
        shuffle_service_cleanup_stop(b->service_cleanup);
        uv_walk(&b->loop, cluster_close_handle, NULL);
        uv_run(&b->loop, UV_RUN_DEFAULT);
        uv_loop_close(&b->loop);
        slot_monitor_free(b->watch);
        cluster_end_services(b);
        b->manager->class->free(b->manager);
        for (int i = 0; i < b->executors.n; i++)
                for (int slot = 0; slot < b->executors.at[i]->slots; slot++)
                        if (b->executors.at[i]->running[slot])
                                job_runner_run_free(b->runner, steal(b->executors.at[i]->running[slot]));
        executor_table_deinit(&b->executors);
        string_list_deinit(&b->excluded_hosts);
        strmap_deinit(&b->settings);
        buf_deinit(&b->tokens);
        explicit_bzero(b->io_secret, sizeof(b->io_secret));
        security_free(b->security);
        free(b);
}

static const struct scheduler_backend_class cluster_backend_class = {
        .name = "cluster",
        .is_remote = true,
        .announce = cluster_announce,
        .start = cluster_start,
        .launch = cluster_launch,
        .run_returned = cluster_run_returned,
        .kill_task = cluster_kill_task,
        .locate = cluster_locate,
        .remove_output = cluster_remove_output,
        .stage_removed = cluster_stage_removed,
        .cached_on = cluster_cached_on,
        .lends_cores = cluster_lends_cores,
        .expected_cores = cluster_expected_cores,
        .kill_executor = cluster_kill_executor,
        .rack = cluster_rack,
        .host_excluded = cluster_host_excluded,
        .request_executors = cluster_request_executors,
        .request_more = cluster_request_more,
        .kill_executors = cluster_kill_executors,
        .remove_executors = cluster_remove_executors,
        .ask_threads = cluster_ask_threads,
        .is_adopting = cluster_is_adopting,
        .end_adoption = cluster_end_adoption,
        .settle_run = cluster_settle_run,
        .job_submitted = cluster_job_submitted,
        .wait = cluster_wait,
        .wake = cluster_wake,
        .idle = cluster_idle,
        .leave = cluster_leave,
        .free = cluster_free,
};

struct scheduler_backend *cluster_backend_new(struct fst_context *sc, struct executor_manager *manager)
{
        struct cluster_backend *b = new0(struct cluster_backend);
        b->backend.class = &cluster_backend_class;
        b->sc = sc;
        b->manager = manager;
        b->requested = -1;
        b->port = RPC_PORT_NONE;
        uv_loop_init(&b->loop);
        uv_async_init(&b->loop, &b->wake, cluster_on_woken);
        b->wake.data = b;
        uv_timer_init(&b->loop, &b->deadline);
        uv_timer_init(&b->loop, &b->expiry);
        uv_timer_init(&b->loop, &b->drain);
        uv_timer_init(&b->loop, &b->memory_check);
        b->expiry.data = b->drain.data = b->memory_check.data = b;
        return &b->backend;
}
