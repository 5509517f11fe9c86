/*
 * See executor.h. One loop on the main thread serves the connection to the driver, timers, and the reports of slots.
 * Slots run tasks on their own threads, pack the outcomes there, and append them to the outbox, which the loop sends.
 *
 * It follows CoarseGrainedExecutorBackend: only the driver decides, so an executor without its driver ends at once, or
 * waits for the next one (executor_resume.c).
 */
#include "exec/executor_internal.h"

#include "base/error.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/log4j2.h"
#include "exec/app/app_files.h"
#include "exec/guard/crash.h"
#include "exec/guard/memory_budget.h"
#include "exec/guard/memory_limit.h"
#include "exec/guard/node_sample.h"
#include "exec/driver_client.h"
#include "exec/executor_sinks.h"
#include "exec/executor_transfer.h"
#include "exec/executor_attributes.h"
#include "exec/executor_resources.h"
#include "exec/executor_stages.h"
#include "exec/isolation/isolation.h"
#include "exec/lost_executors.h"
#include "exec/migration.h"
#include "exec/app/module.h"
#include "exec/resource_discovery.h"
#include "exec/task/slot_monitor.h"
#include "exec/worker_watcher.h"
#include "exec/isolation/zygote.h"
#include "logs/log_capture.h"
#include "io/fs/hdfs_tokens.h"
#include "io/output_committer.h"
#include "net/security.h"
#include "process/foreign_process.h"
#include "process/loop_wait.h"
#include "rpc/control.pb-c.h"
#include "rpc/rpc.h"
#include "rpc/wire_memory.h"
#include "store/disk_dirs.h"
#include "store/memory.h"

#include <elf.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BARRIER_TIMEOUT_MS (INT64_C(400) * 24 * 3600 * 1000) /* longer than the driver's, which decides */
#define STOP_TIMEOUT_MS 1000                                 /* for tasks to notice that the executor ends */

/* --------------------------------------------------------------------------------------------------- ending */

void executor_end(struct executor *x, int status)
{
        if (x->ended)
                return;
        x->ended = true;
        x->exit_status = status;
        if (x->data)
                executor_transfer_stop_loading(x->data);
        uv_stop(&x->loop);
}

static void on_terminated(uv_signal_t *handle, int signal)
{
        struct executor *x = handle->data;
        /* The driver of a local cluster stops its executors by this signal, and they share its log. */
        log_at(x->options->started_by_driver ? LOG_INFO : LOG_ERROR, "CoarseGrainedExecutorBackend",
               "RECEIVED SIGNAL TERM");
        executor_end(x, 128 + signal);
}

/* ------------------------------------------------------------------------------------------------- heartbeats */

static void on_heartbeat_reply(void *owner, struct rpc_answer *answer)
{
        struct executor *x = owner;
        if (answer->status == 0) {
                x->missed_heartbeats = 0;
                executor_resume_heartbeat(x, true);
                return;
        }
        if (executor_is_waiting(x))
                return;
        log_warn("Executor", "Issue communicating with driver in heartbeater: %s", answer->message);
        if (++x->missed_heartbeats < x->most_missed)
                return;
        log_error("Executor", "Exit as unable to send heartbeats to driver more than %d times", x->most_missed);
        executor_end(x, EXECUTOR_EXIT_HEARTBEAT);
}

/* How full the fullest local directory is, 0 to 1; 0 if no file system answers. */
static double executor_disk_usage(const struct executor *x)
{
        double most = 0;
        for (size_t i = 0; i < disk_dirs_count(x->env.dirs); i++) {
                struct statvfs fs;
                if (statvfs(disk_dirs_root(x->env.dirs, i), &fs) != 0 || fs.f_blocks == 0)
                        continue;
                const double used = 1 - (double)fs.f_bavail / (double)fs.f_blocks;
                most = MAX(most, used);
        }
        return most;
}

/* Fills in the progress of running tasks. The caller frees *@storage after sending. */
static void executor_fill_progress(struct executor *x, Firesteel__Heartbeat *beat, Firesteel__TaskProgress **storage)
{
        const size_t n = (size_t)x->n_slots;
        Firesteel__TaskProgress *tasks = new_array(Firesteel__TaskProgress, n);
        beat->tasks = new_array(Firesteel__TaskProgress *, n);
        for (size_t i = 0; i < n; i++) {
                struct slot_progress p;
                if (!x->slots[i] || !slot_progress(x->slots[i], &p))
                        continue;
                Firesteel__TaskProgress *to = &tasks[beat->n_tasks];
                firesteel__task_progress__init(to);
                to->task_id = p.task_id;
                to->records = p.records;
                to->run_ns = p.run_ns;
                beat->tasks[beat->n_tasks++] = to;
        }
        *storage = tasks;
}

static void executor_fill_node(Firesteel__NodeCounters *to)
{
        struct node_counters node;
        node_sample_read(&node);
        firesteel__node_counters__init(to);
        to->ms = node.ms;
        to->cpu_busy_ms = node.cpu_busy_ms;
        to->cpu_all_ms = node.cpu_all_ms;
        to->process_cpu_ms = node.process_cpu_ms;
        to->memory_total = node.memory_total;
        to->memory_available = node.memory_available;
        to->disk_read = node.disk_read;
        to->disk_written = node.disk_written;
        to->net_received = node.net_received;
        to->net_sent = node.net_sent;
}

static void on_heartbeat(uv_timer_t *timer)
{
        Firesteel__NodeCounters node;
        struct executor *x = timer->data;
        Firesteel__Heartbeat beat = FIRESTEEL__HEARTBEAT__INIT;
        Firesteel__TaskProgress *progress;
        if (executor_is_waiting(x))
                return;
        beat.executor_id = (char *)x->options->executor_id;
        beat.resident_bytes = process_resident_bytes();
        beat.execution_memory = (int64_t)memory_manager_execution_used(x->env.memory);
        beat.storage_memory = (int64_t)memory_manager_storage_used(x->env.memory);
        beat.disk_usage = executor_disk_usage(x);
        pthread_mutex_lock(&x->lock);
        for (int s = 0; s < x->n_slots; s++)
                beat.running += x->running[s] != NULL;
        pthread_mutex_unlock(&x->lock);
        executor_fill_progress(x, &beat, &progress);
        executor_fill_node(&node);
        beat.node = &node;
        rpc_ask_packed(x->driver, FIRESTEEL__CONTROL_TYPE__HEARTBEAT, &beat.base, NULL, 0, on_heartbeat_reply, x);
        executor_resume_heartbeat(x, false);
        free(beat.tasks);
        free(progress);
}

/* ---------------------------------------------------------------------------------------------- requests of tasks */

static int ask_may_commit(void *owner, int stage, int stage_attempt, int partition, int64_t task_id)
{
        struct executor *x = owner;
        struct fst_error error = FST_ERROR_INIT;
        uint8_t *body = NULL;
        size_t len = 0;
        Firesteel__MayCommit question = FIRESTEEL__MAY_COMMIT__INIT;
        question.stage_id = stage;
        question.stage_attempt = stage_attempt;
        question.partition = partition;
        question.task_id = task_id;
        uint32_t driver;
        for (;;) {
                if (!executor_await_adoption(x, task_id, &driver))
                        return FST_OUTPUT_E_DENIED;
                int r = driver_client_ask(x->asks, FIRESTEEL__CONTROL_TYPE__MAY_COMMIT, &question.base, NULL, &body,
                                          &len, &error);
                if (r == -ENOTCONN && driver) { /* the driver is lost: ask the one that adopts the task */
                        error_deinit(&error);
                        executor_await_loss(x, driver);
                        continue;
                }
                if (r) {
                        log_error("OutputCommitCoordinator",
                                  "cannot ask the driver whether task %" PRId64 " may commit: %s", task_id,
                                  error_message(&error));
                        error_deinit(&error);
                        return r;
                }
                Firesteel__MayCommitReply *reply = firesteel__may_commit_reply__unpack(&wire_guarded, len, body);
                free(steal(body));
                r = !reply ? -EBADMSG : reply->may ? 0 : FST_OUTPUT_E_DENIED;
                firesteel__may_commit_reply__free_unpacked(reply, NULL);
                if (executor_driver_number(x) == driver) /* else it is that of a driver that was stuck */
                        return r;
        }
}

/* Waits as long as the driver does: the driver has the timeout of a barrier. */
static int wait_at_barrier(void *owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                           size_t *answer_len, struct fst_error *error)
{
        struct executor *x = owner;
        return driver_client_ask_packed(x->asks, FIRESTEEL__CONTROL_TYPE__BARRIER_SYNC, question, len,
                                        BARRIER_TIMEOUT_MS, stopped, answer, answer_len, error);
}

/* -------------------------------------------------------------------------------------------------- starting */

/* A request before the executor runs: the loop runs until the reply arrives. */
struct startup_request {
        int (*answered)(struct executor *x, const struct rpc_answer *answer, struct fst_error *error);
        int status;
        struct fst_error *error;
        bool done;
};

static void on_startup_reply(void *owner, struct rpc_answer *answer)
{
        struct executor *x = owner;
        struct startup_request *ask = x->first_ask;
        if (!ask)
                return; /* the executor ends and ignores the reply */
        ask->done = true;
        if (answer->status)
                ask->status =
                        error_set(ask->error, answer->status < 0 ? answer->status : -EREMOTEIO, "%s", answer->message);
        else
                ask->status = ask->answered(x, answer, ask->error);
}

static bool startup_ask_is_over(void *owner)
{
        const struct executor *x = owner;
        return x->first_ask->done || x->ended;
}

static int startup_ask(struct executor *x, uint16_t type, const ProtobufCMessage *question,
                       int (*answered)(struct executor *, const struct rpc_answer *, struct fst_error *),
                       struct fst_error *error)
{
        struct startup_request ask = {.answered = answered, .error = error};
        int r = rpc_ask_packed(x->driver, type, question, NULL, 0, on_startup_reply, x);
        if (r)
                return error_set(error, r, "cannot ask the driver at %s: %s", x->options->driver_url, strerror(-r));
        x->first_ask = &ask;
        loop_wait(&x->loop, startup_ask_is_over, x, LOOP_WAIT_FOREVER);
        x->first_ask = NULL;
        return ask.done ? ask.status : error_set(error, -ESHUTDOWN, "the executor is ending");
}

bool executor_startup_key(const char *key)
{
        size_t n = strlen(key);
        if (strncmp(key, "spark.auth", 10) == 0)
                return strcmp(key, "spark.authenticate.secret") != 0;
        if (strncmp(key, "spark.ssl", 9) == 0)
                return !strstr(key, "Password");
        return strncmp(key, "spark.firesteel.logs.", 21) == 0 || strncmp(key, "spark.rpc", 9) == 0 ||
               strncmp(key, "spark.network", 13) == 0 || strncmp(key, "spark.port.", 11) == 0 ||
               (strncmp(key, "spark.", 6) == 0 && n > 5 && strcmp(key + n - 5, ".port") == 0);
}

static int receive_config(struct executor *x, const struct rpc_answer *answer, struct fst_error *error)
{
        Firesteel__AppConfig *config = firesteel__app_config__unpack(&wire_guarded, answer->len, answer->body);
        if (!config)
                return error_set(error, -EBADMSG, "the driver's configuration is malformed");
        for (size_t i = 0; i < config->n_properties; i++) {
                const Firesteel__Property *p = config->properties[i];
                if (executor_startup_key(p->key))
                        conf_set_if_missing(&x->conf, p->key, p->value);
                else
                        conf_set(&x->conf, p->key, p->value);
        }
        x->epoch = config->epoch;
        x->resume_application = mem_strdup(config->resume_application);
        x->app_id = mem_strdup(config->app_id);
        conf_set(&x->conf, "spark.app.id", x->app_id);
        log_capture_configure(&x->conf);
        x->env.app_id = x->app_id;
        x->env.seed = config->seed;
        x->driver_host = mem_strdup(config->driver_host);
        x->driver_port = config->driver_port;
        executor_take_tokens(x, config->delegation_tokens.data, config->delegation_tokens.len);
        if (config->io_encryption_key.len) {
                buf_append(&x->io_secret, config->io_encryption_key.data, config->io_encryption_key.len);
                x->env.io_secret = x->io_secret.data;
                x->env.io_secret_len = x->io_secret.len;
        }
        if (config->files) {
                size_t size = protobuf_c_message_get_packed_size(&config->files->base);
                buf_reserve(&x->files, size);
                x->files.len = protobuf_c_message_pack(&config->files->base, (uint8_t *)x->files.data);
        }
        firesteel__app_config__free_unpacked(config, NULL);
        return 0;
}

static int receive_registration(struct executor *x, const struct rpc_answer *answer, struct fst_error *error)
{
        Firesteel__RegisteredExecutor *registered =
                firesteel__registered_executor__unpack(&wire_guarded, answer->len, answer->body);
        if (!registered)
                return error_set(error, -EBADMSG, "the driver's reply to the registration is malformed");
        x->index = registered->index;
        x->peer = rpc_peer_ref_new(answer->peer);
        x->registered = true;
        x->writer = registered->writer;
        firesteel__registered_executor__free_unpacked(registered, NULL);
        log_info("CoarseGrainedExecutorBackend", "Successfully registered with driver");
        return executor_transfer_use_store(x->data, x->writer, executor_running_batches, x, error);
}

/* An executor ends with its worker. */
static void on_worker_lost(void *owner)
{
        struct executor *x = owner;
        x->worker_lost = true;
        executor_end(x, EXECUTOR_EXIT_FAILED);
}

/*
 * Removes the directories that the worker would have removed. With a shuffle service, which may still run, they stay:
 * others read the map outputs.
 */
static void executor_remove_own_dirs(const struct executor *x)
{
        bool service = false;
        if (x->worker_lost && conf_get_bool(&x->conf, "spark.shuffle.service.enabled", &service, NULL) == 0 && !service)
                disk_dirs_sweep_executors();
}

static int watch_worker(struct executor *x, struct fst_error *error)
{
        const char *url = x->options->worker_url;
        return url ? worker_watcher_new(&x->loop, &x->conf, url, on_worker_lost, x, &x->worker, error) : 0;
}

static int connect_driver(struct executor *x, struct fst_error *error)
{
        struct rpc_options options;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(&x->conf, x->options->app_id, SECURITY_EXECUTOR, &x->security, error)) ||
            (r = rpc_options_configure(&options, &x->conf, error)))
                return r;
        options.name = "sparkExecutor";
        options.app_id = x->options->app_id;
        options.security = x->security;
        if ((r = rpc_env_new(&x->loop, &options, &x->rpc, error)) ||
            (r = rpc_env_register(x->rpc, "Executor", &executor_endpoint_class, x, error)) ||
            (r = rpc_env_ref(x->rpc, x->options->driver_url, &x->driver, error)))
                return r;
        log_info("CoarseGrainedExecutorBackend", "Connecting to driver: %s", x->options->driver_url);
        Firesteel__RetrieveAppConfig question = FIRESTEEL__RETRIEVE_APP_CONFIG__INIT;
        question.resource_profile = x->options->resource_profile;
        return startup_ask(x, FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG, &question.base, receive_config, error);
}

static int start_slots(struct executor *x, struct fst_error *error)
{
        int r = 0;
        /* Tasks in processes keep their core: an idle process of another slot takes memory. */
        bool more = executor_transfer_publishes(x->data) && !(x->env.isolation && x->env.isolation->all);
        x->n_slots = more ? 2 * x->options->cores : x->options->cores;
        x->slots = new_array(struct slot *, (size_t)x->n_slots);
        x->running = new_array(struct task_batch *, (size_t)x->n_slots);
        r = exec_env_bind_slots(&x->env, &x->conf, x->options->cores, error);
        for (int i = 0; i < x->n_slots && r == 0; i++)
                r = slot_new(i, &x->env, executor_batch_done, x, &x->slots[i], error);
        return r;
}

static void load_class_path(struct executor *x)
{
        for (size_t i = 0; i < x->options->n_user_class_path; i++) {
                struct fst_error error = FST_ERROR_INIT;
                const struct module *module;
                const char *path = x->options->user_class_path[i];
                if (module_load(strncmp(path, "file:", 5) == 0 ? path + 5 : path, &module, &error))
                        log_warn("Executor", "--user-class-path: %s", error_message(&error));
                else if (x->env.isolation)
                        isolation_add_module(x->env.isolation, module->path);
                error_deinit(&error);
        }
}

/*
 * As in Spark, --files and --archives are put into the executor's working directory before the first task. Executors of
 * a local cluster share theirs, so they skip this. If it fails, tasks still have fst_file, which reports a better
 * error.
 */
static bool files_are_prepared(void *owner)
{
        struct executor *x = owner;
        const char *master = conf_get_value(&x->conf, "spark.master");
        return (master && strncmp(master, "local-cluster[", 14) == 0) || app_files_are_linked(x->env.files);
}

static void prepare_files(void *owner)
{
        struct executor *x = owner;
        struct fst_error error = FST_ERROR_INIT;
        if (!files_are_prepared(x) && app_files_link(x->env.files, ".", &error))
                log_warn("Executor", "the application's files: %s", error_message(&error));
        error_deinit(&error);
}

static int load_module(void *owner, const struct stage_module *module, struct fst_error *error)
{
        struct executor *x = owner;
        return executor_transfer_load_module(x->data, module, error);
}

static void on_block_updates(void *owner)
{
        struct executor *x = owner;
        uv_async_send(&x->wake);
}

static int start_data(struct executor *x, struct fst_error *error)
{
        struct executor_transfer_options options = {
                .conf = &x->conf,
                .security = x->security,
                .bind = x->options->bind_address ? x->options->bind_address : x->options->hostname,
                .hostname = x->options->hostname,
                .driver_host = x->driver_host,
                .driver_port = x->driver_port,
                .cores = x->options->cores,
                .asks = x->asks,
                .lost = &x->lost,
                .updated = on_block_updates,
                .owner = x,
        };
        int r = executor_transfer_new(&x->env, &options, &x->data, error);
        if (r == 0 && x->files.len)
                executor_add_files(x, (const uint8_t *)x->files.data, x->files.len);
        return r;
}

/* Applies the configuration. The zygote exists already, because it is forked before the first thread. */
static int start_isolation(struct executor *x, int64_t memory, struct fst_error *error)
{
        bool all;
        int r = isolation_wanted(&x->conf, &all, error);
        if (r == 0 && x->zygote)
                return isolation_new(&x->conf, steal(x->zygote), x->options->cores, memory, x->options->group_processes,
                                     &x->env.isolation, error);
        if (r == 0 && all)
                r = error_set(error, -EAGAIN, "spark.firesteel.task.isolation=process: %s",
                              error_message(&x->no_zygote));
        return r;
}

static int start_env(struct executor *x, struct fst_error *error)
{
        struct memory_budget memory;
        int64_t misses;
        int r;
        if ((r = log4j2_configure(&x->conf, getenv("SPARK_CONF_DIR"), error)) ||
            (r = memory_budget_read(&x->conf, "spark.executor.memory", x->options->group_processes, &memory, error)) ||
            (r = conf_get_int(&x->conf, "spark.executor.heartbeat.maxFailures", &misses, error)) ||
            (r = conf_get_bytes(&x->conf, "spark.task.maxDirectResultSize", &x->max_direct_result, error)))
                return r;
        x->most_missed = (int)misses;
        log_set_context(x->app_id, -1, -1);
        if ((r = start_isolation(x, memory.heap, error)) || (r = exec_env_init(&x->env, &x->conf, memory.heap, error)))
                return r;
        x->env.may_commit = ask_may_commit;
        x->env.commit_owner = x;
        x->env.barrier = wait_at_barrier;
        x->env.barrier_owner = x;
        x->env.executor_id = x->options->executor_id;
        load_class_path(x); /* before anything else: each slot forks a task process */
        if ((r = driver_client_new(&x->loop, x->driver, &x->asks, error)) || (r = start_data(x, error)) ||
            (r = start_slots(x, error)) || (r = executor_start_watch(x, error)))
                return r;
        x->stages = executor_stages_new(&(struct executor_stages_options){.loop = &x->loop,
                                                                          .env = &x->env,
                                                                          .lost = &x->lost,
                                                                          .executor_id = x->options->executor_id,
                                                                          .is_prepared = files_are_prepared,
                                                                          .prepare = prepare_files,
                                                                          .load = load_module,
                                                                          .ready = executor_batch_ready,
                                                                          .owner = x});
        return 0;
}

/* A registration, and what it borrows. */
struct executor_registration {
        Firesteel__RegisterExecutor message;
        struct executor_resources resources;
        struct executor_attributes urls, attributes;
        char *libc;
};

static void registration_deinit(struct executor_registration *m)
{
        executor_resources_deinit(&m->resources);
        executor_attributes_deinit(&m->urls);
        executor_attributes_deinit(&m->attributes);
        free(m->libc);
}

static int registration_init(struct executor_registration *registration, struct executor *x, struct fst_error *error)
{
        *registration = (struct executor_registration){0};
        int r = executor_resources_read(x->options->resources_file, &registration->resources, error);
        if (r == 0)
                r = resource_discover(&x->conf, "spark.executor.resource.", &registration->resources, error);
        if (r) {
                executor_resources_deinit(&registration->resources);
                return r;
        }
        Firesteel__RegisterExecutor *m = &registration->message;
        firesteel__register_executor__init(m);
        m->executor_id = (char *)x->options->executor_id;
        m->hostname = (char *)x->options->hostname;
        m->cores = x->options->cores;
        m->slots = x->n_slots;
        m->transfer_port = executor_transfer_port(x->data);
        m->shuffle_service_port = executor_transfer_service_port(x->data);
        m->resource_profile = x->options->resource_profile;
        m->resources = registration->resources.list;
        m->n_resources = registration->resources.n;
        executor_log_urls(environ, &registration->urls);
        m->log_urls = registration->urls.list;
        m->n_log_urls = registration->urls.n;
        executor_attributes_read(environ, &registration->attributes);
        m->attributes = registration->attributes.list;
        m->n_attributes = registration->attributes.n;
        m->abi = FST_ABI;
#if defined(__x86_64__)
        m->machine = EM_X86_64;
#elif defined(__aarch64__)
        m->machine = EM_AARCH64;
#endif
        m->libc = registration->libc = mem_printf("glibc %s", gnu_get_libc_version());
        m->version = (char *)FIRESTEEL_VERSION;
        m->memory = (int64_t)memory_manager_pool(x->env.memory);
        m->off_heap_memory = x->env.off_heap ? (int64_t)memory_manager_pool(x->env.off_heap) : 0;
        m->pid = getpid();
        m->started = process_start_ticks(getpid());
        return 0;
}

static int executor_register(struct executor *x, struct fst_error *error)
{
        struct executor_registration m;
        int r = executor_resume_new(x, x->resume_application, x->epoch, error); /* before the first task can come */
        if (r == 0)
                r = registration_init(&m, x, error);
        if (r)
                return r;
        fault_point(FAULT_REGISTER);
        r = startup_ask(x, FIRESTEEL__CONTROL_TYPE__REGISTER_EXECUTOR, &m.message.base, receive_registration, error);
        registration_deinit(&m);
        return r;
}

int executor_send_registration(struct executor *x, struct rpc_ref *driver, Firesteel__Holdings *holdings,
                               rpc_answer_fn answered, void *owner, struct fst_error *error)
{
        struct executor_registration m;
        int r = registration_init(&m, x, error);
        if (r)
                return r;
        m.message.holdings = holdings;
        r = rpc_ask_packed(driver, FIRESTEEL__CONTROL_TYPE__REGISTER_EXECUTOR, &m.message.base, NULL, 0, answered, owner);
        registration_deinit(&m);
        return r ? error_set(error, r, "cannot ask the driver: %s", strerror(-r)) : 0;
}

static int executor_start_sinks(struct executor *x, struct fst_error *error)
{
        return executor_sinks_start(&(struct executor_sinks_options){.conf = &x->conf,
                                                                     .env = &x->env,
                                                                     .app_id = x->app_id,
                                                                     .executor_id = x->options->executor_id,
                                                                     .cores = x->options->cores},
                                    &x->sinks, error);
}

static int executor_start(struct executor *x, struct fst_error *error)
{
        int64_t interval;
        int r;
        if (x->options->gate) {
                if ((r = x->options->gate->class->start(x->options->gate, &x->loop, x, error)))
                        return r;
                strmap_merge(&x->conf.set, &x->options->conf->set);
        }
        if ((r = watch_worker(x, error)) || (r = connect_driver(x, error)) || (r = start_env(x, error)) ||
            (r = conf_get_ms(&x->conf, "spark.executor.heartbeatInterval", &interval, error)) ||
            (r = executor_watch_signal(x, error)) || (r = executor_start_sinks(x, error)) ||
            (r = executor_register(x, error)))
                return r;
        if (x->options->gate)
                x->options->gate->class->registered(x->options->gate);
        uv_timer_start(&x->heartbeat, on_heartbeat, (uint64_t)interval, (uint64_t)interval);
        log_info("Executor", "Starting executor ID %s on host %s with %d task slots", x->options->executor_id,
                 x->options->hostname, x->options->cores);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- ending */

void executor_kill_all_tasks(struct executor *x)
{
        VEC(int64_t) ids = {0};
        for (int s = 0; s < x->n_slots; s++) {
                ids.len = 0;
                pthread_mutex_lock(&x->lock);
                for (int i = 0; x->running[s] && i < x->running[s]->n; i++)
                        vec_push(&ids, x->running[s]->tasks[i].info.id);
                pthread_mutex_unlock(&x->lock);
                for (size_t i = 0; i < ids.len; i++)
                        slot_kill(x->slots[s], ids.data[i], true);
        }
        vec_deinit(&ids);
}

/*
 * Ends all tasks and waits a short time: a task that ignores this must not block the end. Task processes end with their
 * tasks.
 */
static void end_tasks(struct executor *x)
{
        executor_kill_all_tasks(x);
        for (int ms = 0; ms < STOP_TIMEOUT_MS && !executor_is_idle(x); ms++)
                usleep(1000);
        if (executor_is_idle(x))
                return;
        log_warn("Executor", "some tasks ignore their end and are killed with the executor");
        if (x->data)
                executor_transfer_leave_files(x->data);
        exec_env_remove_files(&x->env);
        executor_remove_own_dirs(x);
        _exit(x->exit_status);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
        if (!uv_is_closing(handle))
                uv_close(handle, NULL);
}

static void on_executor_rpc_closed(void *owner)
{
        *(bool *)owner = true;
}

static void executor_stop(struct executor *x)
{
        bool closed = false;
        x->ended = true;
        executor_resume_stop(x);
        if (x->asks)
                driver_client_stop(x->asks);
        migration_free(steal(x->migration));
        if (x->data)
                executor_transfer_stop_copying(x->data);
        end_tasks(x);
        if (x->options->gate)
                x->options->gate->class->stop(x->options->gate);
        /* The loop runs once more to close the connections. */
        uv_timer_stop(&x->heartbeat);
        uv_timer_stop(&x->look);
        slot_monitor_free(steal(x->watch));
        for (int s = 0; s < x->n_slots; s++)
                slot_free(x->slots[s]);
        executor_sinks_stop(steal(x->sinks));
        if (x->data)
                executor_transfer_close(x->data);
        rpc_ref_unref(steal(x->driver));
        rpc_peer_unref(steal(x->peer));
        worker_watcher_free(steal(x->worker));
        if (x->rpc) {
                rpc_env_close(x->rpc, 100, on_executor_rpc_closed, &closed);
                while (!closed)
                        uv_run(&x->loop, UV_RUN_ONCE);
        }
        uv_walk(&x->loop, close_handle, NULL);
        uv_run(&x->loop, UV_RUN_DEFAULT);
        /* No stage is loading any more: the loop's pool gives its modules to the isolation. */
        executor_gate_free(x);
        executor_stages_free(x->stages);
        isolation_free(x->env.isolation);
        zygote_free(x->zygote);
        executor_resume_free(x);
        driver_client_free(x->asks);
        executor_transfer_free(x->data);
        exec_env_deinit(&x->env);
        executor_remove_own_dirs(x);
        while (x->spare) {
                struct task_batch *next = x->spare->next;
                free(x->spare);
                x->spare = next;
        }
        free(x->slots);
        free(x->running);
        buf_deinit(&x->outbox);
        buf_deinit(&x->sending);
        buf_deinit(&x->updates);
        if (x->io_secret.len)
                explicit_bzero(x->io_secret.data, x->io_secret.len);
        buf_deinit(&x->io_secret);
        lost_executors_deinit(&x->lost);
        buf_deinit(&x->files);
        vec_deinit(&x->through);
        error_deinit(&x->no_zygote);
        free(x->driver_host);
        free(x->resume_application);
        security_free(x->security);
        uv_loop_close(&x->loop);
        conf_deinit(&x->conf);
        held_runs_deinit(&x->held);
        pthread_cond_destroy(&x->adopted);
        pthread_mutex_destroy(&x->lock);
        log_set_context(NULL, -1, -1);
        free(x->app_id);
}

/* Before the zygote is forked, whose task processes write to the same outputs. */
static void executor_capture_output(const struct executor_options *options)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *process = mem_printf("executor-%s", options->executor_id);
        log_capture_buffer_lines(); /* task processes inherit it */
        if (log_capture_start(options->conf, options->app_id, process, false, &error) < 0)
                log_warn("Executor", "%s", error_message(&error));
}

int executor_run(const struct executor_options *options)
{
        struct executor x = {.options = options, .exit_status = EXECUTOR_EXIT_FAILED, .lost = LOST_EXECUTORS_INIT};
        struct fst_error error = FST_ERROR_INIT;
        fault_points_init(options->executor_id);
        hdfs_tokens_share();
        executor_capture_output(options);
        /* Fork the zygote first: it must be small and hold nothing of this process. */
        if (isolation_zygote_new(&x.zygote, &x.no_zygote))
                log_warn("Executor", "tasks that may crash cannot run in processes of their own: %s",
                         error_message(&x.no_zygote));
        pthread_mutex_init(&x.lock, NULL);
        pthread_cond_init(&x.adopted, NULL);
        conf_init(&x.conf);
        strmap_merge(&x.conf.set, &options->conf->set);
        uv_loop_init(&x.loop);
        uv_async_init(&x.loop, &x.wake, executor_send_outbox);
        uv_timer_init(&x.loop, &x.heartbeat);
        uv_timer_init(&x.loop, &x.look);
        uv_signal_init(&x.loop, &x.terminated);
        uv_signal_init(&x.loop, &x.decommission);
        x.wake.data = x.heartbeat.data = x.look.data = x.terminated.data = x.decommission.data = &x;
        uv_signal_start(&x.terminated, on_terminated, SIGTERM);
        log_set_context(options->app_id, -1, -1);
        int r = executor_start(&x, &error);
        if (r == 0 && !x.ended)
                uv_run(&x.loop, UV_RUN_DEFAULT);
        if (r) {
                if (!x.ended) /* otherwise the log has the reason */
                        log_error("CoarseGrainedExecutorBackend", "Executor self-exiting due to : %s",
                                  error_message(&error));
                error_deinit(&error);
        }
        executor_stop(&x);
        return x.exit_status;
}
