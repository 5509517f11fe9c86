/*
 * Starts and stops an application; see context.h.
 *
 * A context that fails to start is still a context: it logs the reason once, and every call returns its status.
 */
#include "driver/cleaner.h"
#include "driver/context.h"
#include "driver/context_handles.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/log4j2.h"
#include "conf/conf_validate.h"
#include "conf/redact.h"
#include "driver/accumulators.h"
#include "driver/application_files.h"
#include "driver/broadcast_variables.h"
#include "driver/actions/served_rows.h"
#include "driver/check_mode.h"
#include "driver/driver_environment.h"
#include "driver/driver_metrics.h"
#include "driver/resources/driver_resources.h"
#include "driver/resources/resource_profiles.h"
#include "driver/events/app_status.h"
#include "driver/events/driver_log.h"
#include "driver/events/driver_ui.h"
#include "driver/events/event_log_setup.h"
#include "driver/events/extra_listeners.h"
#include "driver/job_runner.h"
#include "driver/backend/launcher_backend.h"
#include "driver/backend/cluster_backend.h"
#include "driver/backend/cluster_manager.h"
#include "driver/backend/local_backend.h"
#include "driver/local_properties.h"
#include "driver/plugins.h"
#include "driver/resume/resume.h"
#include "driver/unstopped_context.h"
#include "driver/events/progress_bar.h"
#include "exec/executor_attributes.h"
#include "exec/guard/memory_budget.h"
#include "exec/isolation/isolation.h"
#include "exec/app/module.h"
#include "exec/app/sanitizers.h"
#include "exec/exit_hooks.h"
#include "io/fs/hadoop_conf.h"
#include "logs/log_capture.h"
#include "net/socket.h"
#include "process/failure_reason.h"
#include "process/unique_ms.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/rdd.h"
#include "shuffle/shuffle_manager.h"
#include "status/status.h"

#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int context_count_processors(void)
{
        cpu_set_t set;
        return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* ------------------------------------------------------------------------------------------------- starting */

/* SPARK_USER, the user of --proxy-user, or that of this process. */
static char *context_user_name(const struct fst_conf *conf)
{
        const char *set = getenv("SPARK_USER"), *proxy = conf_get_raw(conf, "spark.hadoop." HADOOP_CONF_PROXY_USER);
        if (set && *set)
                return mem_strdup(set);
        if (proxy && *proxy)
                return mem_strdup(proxy);
        struct passwd *entry = getpwuid(geteuid());
        return entry ? mem_strdup(entry->pw_name) : mem_printf("%u", (unsigned)geteuid());
}

/* The driver's host, as its executors reach it. */
static int context_read_host(struct fst_context *sc, struct fst_error *error)
{
        if (sc->manager->in_process) {
                sc->host = mem_strdup("localhost");
                return 0;
        }
        int r = conf_get_string(sc->conf, "spark.driver.host", &sc->host, error);
        if (r)
                return r;
        if (!sc->host)
                sc->host = socket_local_host();
        conf_set(sc->conf, "spark.driver.host", sc->host);
        return 0;
}

/* The application id of a master that gives none, in Spark's local form or a standalone master's. */
static char *context_make_app_id(const struct fst_context *sc)
{
        char day[32];
        struct tm parts;
        time_t now = (time_t)(sc->started_ms / 1000);
        if (sc->manager->in_process)
                return mem_printf("local-%lld", (long long)unique_ms_new("local-"));
        strftime(day, sizeof(day), "%Y%m%d%H%M%S", localtime_r(&now, &parts));
        return mem_printf("app-%s-%04d", day, (int)(getpid() % 10000));
}

int context_cores_of_one(const struct fst_context *sc)
{
        int64_t each;
        if (!sc->manager->in_process && conf_contains(sc->conf, "spark.executor.cores") &&
            conf_get_int(sc->conf, "spark.executor.cores", &each, NULL) == 0)
                return (int)each;
        return sc->manager->executor_cores ? sc->manager->executor_cores(&sc->master) : INT_MAX;
}

/* Create the backend, and get the application id: a cluster manager assigns it on registration. */
static int context_register(struct fst_context *sc, struct fst_error *error)
{
        struct executor_manager *manager;
        _cleanup_free_ char *former = steal(sc->app_id); /* of the driver whose application this one resumes */
        int r = 0;
        if (sc->manager->in_process)
                sc->backend = local_backend_new(sc);
        else if ((r = sc->manager->executor_manager_new(sc, &manager, error)) == 0)
                sc->backend = cluster_backend_new(sc, manager);
        if (r == 0 && sc->backend->class->announce)
                r = sc->backend->class->announce(sc->backend, &sc->app_id, error);
        if (r)
                return r;
        if (!sc->app_id)
                sc->app_id = former ? steal(former) : context_make_app_id(sc);
        conf_set(sc->conf, "spark.app.id", sc->app_id);
        if (sc->attempt_id)
                conf_set(sc->conf, "spark.app.attempt.id", sc->attempt_id);
        log_capture_configure(sc->conf);
        log_set_context(sc->app_id, -1, -1);
        return 0;
}

/* A driver that its manager started may have to run its tasks itself (spark.kubernetes.driver.master). */
static int context_read_master(struct fst_context *sc, struct fst_error *error)
{
        _cleanup_free_ char *master = NULL, *inside = NULL;
        enum submit_compat compat;
        int r = submit_compat_parse(conf_get_raw(sc->conf, "spark.firesteel.compat"), &compat, error);
        if (r == 0)
                r = conf_get_string(sc->conf, "spark.master", &master, error);
        if (r == 0)
                r = cluster_manager_read(master ? master : "local[*]", compat, context_count_processors(), &sc->manager,
                                         &sc->master, error);
        if (r < 0 || !sc->manager->driver_master_key)
                return r < 0 ? r : check_mode_apply(sc, compat, error);
        r = conf_get_string(sc->conf, sc->manager->driver_master_key, &inside, error);
        if (r < 0 || !inside || !text_starts_with(inside, "local"))
                return r;
        log_info("SparkContext", "Running Spark with %s", inside);
        return cluster_manager_read(inside, compat, context_count_processors(), &sc->manager, &sc->master, error);
}

static int context_read_identity(struct fst_context *sc, struct fst_error *error)
{
        int r = conf_get_string(sc->conf, "spark.app.name", &sc->app_name, error);
        if (r)
                return r;
        if (!sc->app_name)
                return error_set(error, -EINVAL, "An application name must be set in your configuration");
        r = context_read_master(sc, error);
        if (r)
                return r;
        sc->user = context_user_name(sc->conf);
        sc->started_ms = time_of_day_ms();
        return context_read_host(sc, error);
}

static int context_start_log(struct fst_context *sc, struct fst_error *error)
{
        return log4j2_configure(sc->conf, getenv("SPARK_CONF_DIR"), error);
}

/*
 * A local master isolates its tasks in processes only if all tasks are isolated. Forks the zygote before any thread
 * starts.
 */
static int context_start_isolation(struct fst_context *sc, int64_t memory, struct fst_error *error)
{
        struct zygote *zygote;
        bool all;
        int r = isolation_wanted(sc->conf, &all, error);
        if (r || !all || !sc->manager->in_process)
                return r;
        if ((r = isolation_zygote_new(&zygote, error)))
                return error_wrap(error, r, "spark.firesteel.task.isolation=process");
        return isolation_new(sc->conf, zygote, sc->master.threads, memory, 1, &sc->env.isolation, error);
}

/* Sets *@heap to the memory of tasks in this process. Before the first thread, and so before the UI. */
static int context_start_memory(struct fst_context *sc, int64_t *heap, struct fst_error *error)
{
        struct memory_budget memory = {0};
        int r = memory_budget_read(sc->conf, "spark.driver.memory", 1, &memory, error);
        sc->in_group = memory.in_group;
        *heap = memory.heap;
        return r ? r : context_start_isolation(sc, memory.heap, error);
}

static int context_start_env(struct fst_context *sc, int64_t heap, struct fst_error *error)
{
        int r = exec_env_init(&sc->env, sc->conf, heap, error);
        if (r == 0 && sc->manager->in_process && !sc->env.isolation)
                memory_budget_raise_pool(sc->env.memory, sc->master.threads / MAX(sc->env.task_cpus, 1),
                                         "spark.driver.memory");
        exec_services_init(&sc->services, &sc->env);
        sc->env.services = &sc->services;
        sc->env.app_id = sc->app_id;
        sc->env.seed = (uint64_t)sc->started_ms;
        sc->registry.blocks = sc->env.blocks;
        return r;
}

static int context_start_event_log(struct fst_context *sc, struct fst_error *error)
{
        bool enabled;
        int r = conf_get_bool(sc->conf, "spark.eventLog.enabled", &enabled, error);
        if (r || !enabled)
                return r;
        r = event_log_setup_open(sc->conf, sc->app_id, sc->attempt_id, &sc->event_log, error);
        if (r)
                return r;
        listener_bus_add(sc->bus, event_log_listener(sc->event_log->log));
        return 0;
}

/* How much the status keeps. Only pages show single tasks. */
static int context_read_retention(const struct fst_context *sc, struct status_options *o, struct fst_error *error)
{
        const struct {
                const char *key;
                size_t *limit;
        } limits[] = {{"spark.ui.retainedJobs", &o->retained_jobs},
                      {"spark.ui.retainedStages", &o->retained_stages},
                      {"spark.ui.retainedTasks", &o->retained_tasks},
                      {"spark.ui.retainedDeadExecutors", &o->retained_dead_executors}};
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(limits); i++) {
                int64_t value;
                r = conf_get_int(sc->conf, limits[i].key, &value, error);
                *limits[i].limit = r == 0 ? (size_t)MAX(value, (int64_t)1) : 0;
        }
        o->is_live = true;
        o->without_details = !sc->ui;
        return r;
}

static int context_start_listeners(struct fst_context *sc, struct fst_error *error)
{
        struct status_options retention = {0};
        int64_t capacity;
        int r = conf_get_int(sc->conf, "spark.scheduler.listenerbus.eventqueue.capacity", &capacity, error);
        if (r == 0)
                r = context_read_retention(sc, &retention, error);
        if (r)
                return r;
        sc->bus = listener_bus_new((struct listener_bus_options){.capacity = (size_t)capacity});
        sc->app_status = app_status_new(&retention);
        listener_bus_add(sc->bus, app_status_listener(sc->app_status));
        if ((r = context_start_event_log(sc, error)) ||
            (r = extra_listeners_load(sc->conf, sc->bus, &sc->extra_listeners, error)))
                return r;
        listener_bus_start(sc->bus);
        return 0;
}

static int context_start_progress_bar(struct fst_context *sc, struct fst_error *error)
{
        struct progress_bar_options options = {0};
        bool wanted;
        int r = conf_get_bool(sc->conf, "spark.ui.showConsoleProgress", &wanted, error);
        if (r == 0)
                r = conf_get_ms(sc->conf, "spark.ui.consoleProgress.update.interval", &options.interval_ms, error);
        if (r == 0 && wanted && progress_bar_possible() && log_threshold < LOG_INFO)
                sc->progress = progress_bar_start(sc->app_status, options);
        return r;
}

/*
 * Differs from Spark, whose driver keeps running after a Stop and launches tasks forever that its stopped executor
 * refuses. Here the process ends, as by SIGTERM.
 */
static void context_on_launcher_stop(struct launcher_backend *launcher, void *context)
{
        log_info("SparkContext", "The launcher stops this application");
        launcher_backend_set_state(launcher, LAUNCHER_KILLED);
        exit_hooks_exit(128 + SIGTERM);
}

static void context_notify_launcher(struct fst_context *sc)
{
        if (!sc->manager->in_process)
                launcher_backend_set_state(sc->launcher, LAUNCHER_SUBMITTED);
        launcher_backend_set_app_id(sc->launcher, sc->app_id);
        launcher_backend_set_state(sc->launcher, LAUNCHER_RUNNING);
}

static void context_post_start_events(struct fst_context *sc)
{
        struct strmap logs = {0}, attributes = {0};
        driver_links_read(environ, &logs, &attributes);
        listener_bus_post_application_start(sc->bus, &(struct application_start){.name = sc->app_name,
                                                                                 .id = sc->app_id,
                                                                                 .ms = sc->started_ms,
                                                                                 .user = sc->user,
                                                                                 .attempt_id = sc->attempt_id,
                                                                                 .driver_logs = &logs,
                                                                                 .driver_attributes = &attributes});
        strmap_deinit(&logs);
        strmap_deinit(&attributes);
        struct driver_environment environment;
        driver_environment_init(&environment, sc);
        driver_environment_post(&environment, sc);
        driver_environment_deinit(&environment);
        resource_profiles_post_default(sc->profiles);
}

/*
 * A backend for executors has set the port of the driver's blocks. Other drivers serve no blocks and give the port of
 * their pages, or else BLOCK_MANAGER_NO_PORT.
 */
static void context_post_block_manager(struct fst_context *sc)
{
        if (!sc->block_manager_port)
                sc->block_manager_port = sc->ui ? driver_ui_port(sc->ui) : BLOCK_MANAGER_NO_PORT;
        struct block_manager_ref manager = {"driver", sc->host, sc->block_manager_port};
        listener_bus_post_block_manager_added(
                sc->bus,
                &(struct block_manager_added){
                        .manager = manager,
                        .ms = time_of_day_ms(),
                        .max_on_heap_memory = (int64_t)memory_manager_pool(sc->env.memory),
                        .max_off_heap_memory = sc->env.off_heap ? (int64_t)memory_manager_pool(sc->env.off_heap) : 0});
}

/* Set the properties that Spark's driver sets in its own configuration. */
static void context_set_own_properties(struct fst_context *sc)
{
        char ms[32];
        snprintf(ms, sizeof(ms), "%lld", (long long)sc->started_ms);
        conf_set(sc->conf, "spark.app.startTime", ms);
        conf_set(sc->conf, "spark.executor.id", "driver");
}

/* spark.logConf: log all set properties, sorted, with secrets redacted. */
static int context_log_configuration(const struct fst_context *sc, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct redactor redactor;
        bool wanted;
        int r = conf_get_bool(sc->conf, "spark.logConf", &wanted, error);
        if (r || !wanted || (r = redactor_init(&redactor, sc->conf, error)))
                return r;
        _cleanup_free_ struct strmap_entry **entries = strmap_sorted(&sc->conf->set);
        for (size_t i = 0; i < sc->conf->set.count; i++)
                buf_printf(&text, "%s%s=%s", i ? "\n" : "", entries[i]->key,
                           redactor_value(&redactor, entries[i]->key, entries[i]->value));
        redactor_deinit(&redactor);
        log_info("SparkContext", "Spark configuration:\n%s", buf_text(&text));
        return 0;
}

/* A local master keeps map outputs in its process. */
static int context_check_shuffle_manager(struct fst_context *sc, struct fst_error *error)
{
        enum shuffle_manager manager;
        int r = shuffle_manager_read(sc->conf, &manager, error);
        if (r == 0 && sc->manager->in_process)
                shuffle_manager_warn_local(sc->conf, manager);
        return r;
}

static int context_start_parts(struct fst_context *sc, struct fst_error *error)
{
        int r;
        if ((r = context_start_log(sc, error)) || (r = conf_validate(sc->conf, error)) ||
            (r = context_read_identity(sc, error)) || (r = context_check_shuffle_manager(sc, error)))
                return r;
        if ((r = resume_open(sc, error)))
                return r;
        /* Drivers of spark-submit did this before their main, and with the same settings. Others begin here. */
        log_capture_start_driver(sc->conf);
        sc->driver_log = driver_log_start(sc->conf);
        conf_warn_unused(&sc->conf->set);
        conf_warn_misspelled(&sc->conf->set);
        sanitizers_set_executor_environment(sc->conf);
        plugins_warn(sc->conf, strcmp(sc->manager->name, "kubernetes") == 0);
        context_set_own_properties(sc);
        log_info("SparkContext", "Running Firesteel version %s", FIRESTEEL_VERSION);
        if ((r = driver_resources_discover(sc, error)))
                return r;
        log_info("SparkContext", "Submitted application: %s", sc->app_name);
        if ((r = context_log_configuration(sc, error)))
                return r;
        int64_t heap;
        if ((r = context_start_memory(sc, &heap, error)) || (r = driver_ui_open(sc, &sc->ui, error)) ||
            (r = context_register(sc, error)) || (r = resume_start(sc, error)) ||
            (r = context_start_env(sc, heap, error)) || (r = context_start_listeners(sc, error)) ||
            (r = driver_metrics_start(sc, &sc->metrics, error)))
                return r;
        if ((r = application_files_configured(sc, error)))
                return r;
        if ((r = launcher_backend_connect(&sc->conf->set, context_on_launcher_stop, NULL, &sc->launcher, error)))
                return r;
        sc->profiles = resource_profiles_new(sc);
        if ((r = job_runner_new(sc, steal(sc->backend), &sc->runner, error)))
                return r;
        context_post_block_manager(sc); /* first, as Spark does: the next event has the links to the driver's logs */
        context_post_start_events(sc);
        driver_log_persist(sc->driver_log, sc->conf);
        if ((r = context_start_progress_bar(sc, error)))
                return r;
        driver_ui_start(sc->ui);
        if (sc->manager->in_process)
                log_info("Executor", "Starting executor ID driver on host %s with %d task slots", sc->host,
                         sc->master.threads);
        context_notify_launcher(sc);
        return 0;
}

static const char *context_local_property(fst_context *sc, const char *key)
{
        const struct strmap *local = local_properties(sc, false);
        return local ? strmap_get(local, key) : NULL;
}

static int context_describe_function(const fst_fn *fn, const char **name, struct fst_error *error)
{
        struct module_function function;
        int r = module_describe(fn->code, fn->name, &function, error);
        if (r == 0)
                *name = function.name;
        return r;
}

/* How long a signal waits for tasks that do not check for cancellation. */
#define SIGNAL_TIMEOUT_S 2

/*
 * Cancel the jobs of other threads, and wait until these threads have returned, at most @seconds (0: forever). They
 * still need the context to report the failure.
 */
static void context_stop_actions(struct fst_context *sc, int seconds)
{
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += seconds;
        if (sc->runner)
                job_runner_stop(sc->runner);
        pthread_mutex_lock(&sc->lock);
        int r = 0;
        while (sc->acting > 0 && r == 0)
                r = seconds ? pthread_cond_clockwait(&sc->acted, &sc->lock, CLOCK_MONOTONIC, &until)
                            : pthread_cond_wait(&sc->acted, &sc->lock);
        pthread_mutex_unlock(&sc->lock);
        if (r)
                log_warn("SparkContext", "Tasks that do not check for cancellation end with the application");
}

static void context_backend_leave(void *owner, struct scheduler_backend *backend, bool allocates)
{
        if (backend->class->leave)
                backend->class->leave(backend);
}

static void context_close(struct fst_context *sc, int exit_code)
{
        progress_bar_stop(steal(sc->progress));
        context_stop_actions(sc, SIGNAL_TIMEOUT_S);
        job_runner_call(sc->runner, context_backend_leave, NULL);
        launcher_backend_set_state(sc->launcher, LAUNCHER_FINISHED);
        if (sc->bus) {
                listener_bus_post_application_end(
                        sc->bus, &(struct application_end){.ms = time_of_day_ms(), .exit_code = exit_code});
                listener_bus_stop(sc->bus);
        }
        driver_ui_free(steal(sc->ui));
        driver_metrics_end(sc->metrics); /* threads that do not end still count */
        driver_log_free(steal(sc->driver_log));
        resume_end(sc->resume, exit_code == 0, false);
        exec_env_remove_files(&sc->env);
}

/*
 * A thread of the application and a signal may end the context at the same time. The first one does it. If it is the
 * thread, the signal's hook waits until the event log is closed. If it is the hook, the thread never returns.
 */
static void context_on_signal(void *context)
{
        struct fst_context *sc = context;
        pthread_mutex_lock(&sc->lock);
        sc->signalled = !sc->ending;
        while (sc->ending && !sc->ended)
                pthread_cond_wait(&sc->has_ended, &sc->lock);
        pthread_mutex_unlock(&sc->lock);
        if (sc->signalled)
                context_close(sc, exit_hooks_status());
}

/* The calling thread ends @sc. */
static void context_begin_end(struct fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        const bool signalled = sc->signalled;
        sc->ending = !signalled;
        pthread_mutex_unlock(&sc->lock);
        if (signalled)
                exit_hooks_remove(context_on_signal, sc); /* does not return */
}

static void context_finish_end(struct fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        sc->ended = true;
        pthread_cond_broadcast(&sc->has_ended);
        pthread_mutex_unlock(&sc->lock);
        exit_hooks_remove(context_on_signal, sc);
}

void context_end(struct fst_context *sc, int exit_code)
{
        context_begin_end(sc);
        context_close(sc, exit_code);
        context_finish_end(sc);
}

struct fst_context *context_alloc(struct fst_conf *conf)
{
        struct fst_context *sc = new0(struct fst_context);
        sc->conf = conf;
        rdd_registry_init(&sc->registry, conf);
        pthread_mutex_init(&sc->lock, NULL);
        pthread_cond_init(&sc->acted, NULL);
        pthread_cond_init(&sc->has_ended, NULL);
        pthread_mutex_init(&sc->prepare, NULL);
        pthread_cond_init(&sc->prepared, NULL);
        sc->registry.describe = context_describe_function;
        sc->registry.local_property = context_local_property;
        int64_t max_result_size = 0;
        conf_get_bytes(conf, "spark.driver.maxResultSize", &max_result_size, NULL);
        sc->accumulators = accumulators_new(max_result_size);
        sc->broadcasts = broadcast_variables_new();
        sc->files = application_files_new();
        return sc;
}

static void context_report_failed_start(const struct fst_context *sc)
{
        _cleanup_free_ char *reason = mem_printf("Error initializing SparkContext: %s", error_message(&sc->error));
        log_multiline(LOG_ERROR, "SparkContext", "%s", reason);
        failure_reason_set_thread(error_message(&sc->error));
        failure_reason_add(reason);
}

/* Returns 0, or the context's status. A context that fails to start stops being the running one. */
static int context_start(struct fst_context *sc, fst_site site)
{
        int r = context_claim(sc, site, &sc->error);
        if (r == 0) {
                rdd_registry_set_running(&sc->registry);
                r = context_start_parts(sc, &sc->error);
                if (r == 0) {
                        context_started(sc);
                        r = exit_hooks_add(context_on_signal, sc, &sc->error);
                }
                if (r)
                        context_yield(sc);
        }
        if (r)
                context_report_failed_start(sc);
        else
                failure_reason_clear();
        return r;
}

FST_API fst_context *fst_context_new_conf_at(fst_conf *conf, fst_site site)
{
        bool taken = conf_take(conf);
        if (task_run_current()) {
                task_run_fail(task_run_current(), -EDEADLK,
                              "SparkContext should only be created and accessed on the driver.");
                conf_free(taken ? conf : NULL);
                return context_refused();
        }
        struct fst_context *sc = context_alloc(taken ? conf : fst_conf_new());
        live_handle_add(HANDLE_CONTEXT, sc);
        if (taken) {
                sc->status = context_start(sc, site);
                unstopped_context_watch();
                if (sc->status)
                        unstopped_context_failed(sc);
                else
                        unstopped_context_forget(NULL);
        } else {
                sc->status = error_set(&sc->error, -EINVAL,
                                       conf ? "the configuration does not exist: another context has it, it was freed, "
                                              "or its variable was never set"
                                            : "NULL was given where a configuration is wanted: fst_conf_new makes one");
                context_report_failed_start(sc);
        }
        sc->first_failure = sc->status;
        return sc;
}

FST_API fst_context *fst_context_new_at(const char *name, fst_site site)
{
        fst_conf *conf = fst_conf_new();
        if (name)
                conf_set(conf, "spark.app.name", name);
        return fst_context_new_conf_at(conf, site);
}

/* ------------------------------------------------------------------------------------------------- stopping */

static void context_stop_listeners(struct fst_context *sc)
{
        progress_bar_stop(sc->progress);
        if (sc->bus && !sc->status)
                listener_bus_post_application_end(
                        sc->bus,
                        &(struct application_end){.ms = time_of_day_ms(), .exit_code = sc->first_failure != 0});
        if (sc->bus)
                listener_bus_stop(sc->bus);
        driver_metrics_stop(sc->metrics); /* the last report contains all events */
        listener_bus_free(sc->bus);
        extra_listeners_free(sc->extra_listeners);
        event_log_setup_free(sc->event_log);
        app_status_free(sc->app_status);
        resource_profiles_free(steal(sc->profiles));
}

/*
 * Iterators of the context that stopped last, so that fst_next can report a stopped context. Their data is freed. The
 * next context that stops replaces them.
 */
static struct {
        pthread_mutex_t lock;
        struct context_result *first;
} ended_iterators = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool context_ended_refill(fst_iter *iter)
{
        iter->status = -EINVAL;
        context_misused("fst_next was given rows of a context that fst_context_stop has ended");
        return false;
}

static void context_free_results(struct fst_context *sc)
{
        struct context_result *ended = NULL, *old;
        for (struct context_result *next; sc->results; sc->results = next) {
                fst_iter *iter = sc->results->iter;
                struct context_result *owned = sc->results;
                next = owned->next;
                owned->free(owned);
                if (!iter)
                        continue;
                *iter = (fst_iter){.tag = iter->tag, .refill = context_ended_refill};
                owned->next = ended;
                ended = owned;
        }
        pthread_mutex_lock(&ended_iterators.lock);
        old = ended_iterators.first;
        ended_iterators.first = ended;
        pthread_mutex_unlock(&ended_iterators.lock);
        while (old) {
                struct context_result *next = old->next;
                free(old->memory);
                old = next;
        }
}

FST_API int fst_context_stop(fst_context *sc)
{
        sc = context_given(sc, rdd_site("context_stop"));
        if (context_is_refused(sc))
                return sc->status;
        if (__atomic_exchange_n(&sc->stopping, true, __ATOMIC_ACQ_REL)) {
                context_misused("context_stop was called by two threads");
                return -EINVAL;
        }
        unstopped_context_forget(sc);
        served_rows_stop(sc);
        context_stop_actions(sc, 0);
        served_rows_free(sc); /* its threads use the runner */
        context_begin_end(sc);
        live_handle_remove(HANDLE_CONTEXT, sc);
        int status = resume_check_end(sc->resume, sc->first_failure); /* an action that was still running counts too */
        driver_ui_free(sc->ui);
        job_runner_free(sc->runner);
        if (sc->backend)
                sc->backend->class->free(sc->backend);
        if (!sc->status)
                launcher_backend_set_state(sc->launcher, LAUNCHER_FINISHED);
        launcher_backend_close(sc->launcher);
        resume_end(sc->resume, status == 0, true);
        isolation_free(sc->env.isolation);
        context_stop_listeners(sc);
        context_free_results(sc);
        application_files_free(sc->files);
        accumulators_free(sc->accumulators);
        broadcast_variables_free(sc->broadcasts, sc->env.broadcasts);
        rdd_registry_deinit(&sc->registry);
        driver_log_free(sc->driver_log);
        resume_free(sc->resume);
        exec_env_deinit(&sc->env);
        context_finish_end(sc);
        if (!sc->status)
                log_info("SparkContext", "Successfully stopped SparkContext");
        log_set_context(NULL, -1, -1);
        local_properties_forget(sc);
        for (size_t i = 0; i < sc->executors.len; i++) {
                free((char *)sc->executors.data[i]->id);
                free((char *)sc->executors.data[i]->host);
                free((char *)sc->executors.data[i]->address);
                free(sc->executors.data[i]);
        }
        vec_deinit(&sc->executors);
        pthread_cond_destroy(&sc->acted);
        pthread_cond_destroy(&sc->has_ended);
        pthread_cond_destroy(&sc->prepared);
        pthread_mutex_destroy(&sc->lock);
        pthread_mutex_destroy(&sc->prepare);
        free(sc->app_id);
        executor_resources_deinit(&sc->resources);
        free(sc->app_name);
        free(sc->user);
        free(sc->attempt_id);
        free(sc->failed_action);
        free(sc->host);
        error_deinit(&sc->error);
        conf_free(sc->conf);
        context_yield(sc);
        free(sc);
        return status;
}

/* ---------------------------------------------------------------------------------------------------- in use */

void context_own(struct fst_context *sc, struct context_result *result)
{
        pthread_mutex_lock(&sc->lock);
        result->next = sc->results;
        sc->results = result;
        pthread_mutex_unlock(&sc->lock);
}

fst_context *context_enter(fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        sc->acting++;
        pthread_mutex_unlock(&sc->lock);
        return sc;
}

void context_leave(fst_context **in)
{
        fst_context *sc = *in;
        cleaner_run(sc);
        pthread_mutex_lock(&sc->lock);
        sc->acting--;
        pthread_cond_signal(&sc->acted);
        pthread_mutex_unlock(&sc->lock);
}

int context_action_failed(struct fst_context *sc, const char *action, int status, struct fst_error *error)
{
        _cleanup_free_ char *reason = mem_printf("%s failed: %s", action, error_message(error));
        if (sc->status != status && !task_run_current()) { /* the context, or the task's failure, has reported it */
                const char *hint = check_mode_hint(sc, error_message(error));
                log_multiline(LOG_ERROR, "SparkContext", "%s%s%s", reason, hint ? ". " : "", hint ? hint : "");
        }
        failure_reason_set_thread(error_message(error));
        error_deinit(error);
        if (!task_run_current()) /* another attempt may succeed */
                failure_reason_add(reason);
        pthread_mutex_lock(&sc->lock);
        if (!sc->first_failure) {
                sc->first_failure = status;
                sc->failed_action = mem_strdup(action);
        }
        pthread_mutex_unlock(&sc->lock);
        return status;
}
