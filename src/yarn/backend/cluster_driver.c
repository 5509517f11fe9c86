/* See cluster_driver.h. */
#include "yarn/backend/cluster_driver.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "conf/properties.h"
#include "exec/exit_hooks.h"
#include "hadoop/credentials.h"
#include "io/fs/file_systems.h"
#include "launch/native_program.h"
#include "logs/log_capture.h"
#include "process/failure_reason.h"
#include "process/loop_wait.h"
#include "pyspark_driver/python_driver.h"
#include "sparkr/sparkr.h"
#include "yarn/application/conf_secrets.h"
#include "yarn/application/log_links.h"
#include "yarn/backend/executor_launcher.h"
#include "yarn/backend/yarn_cluster_manager.h"
#include "yarn/backend/yarn_executors.h"
#include "yarn/conf/am_settings.h"
#include "yarn/conf/history_address.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AM_LOG "ApplicationMaster"
#define DEFAULT_ATTEMPTS 2 /* yarn.resourcemanager.am.max-attempts */
#define UNREGISTER_MS 10000

struct outcome {
        enum yarn_final_status status;
        int exit_code;
        char *message; /* owned, or NULL */
};

static const char *cluster_driver_variable(const char *name)
{
        return getenv(name);
}

static int cluster_driver_read_conf(const struct cluster_driver_options *o, struct fst_conf *conf,
                                    struct fst_error *error)
{
        conf_init(conf);
        int r = conf_secrets_unpack(getenv("HADOOP_TOKEN_FILE_LOCATION"), ".", error);
        r = r < 0 || !o->properties_file ? r : properties_load(&conf->set, o->properties_file, error);
        r = r < 0 || !o->cache_file ? r : properties_load(&conf->set, o->cache_file, error);
        if (r < 0)
                return r;
        conf_set(conf, "spark.master", "yarn");
        conf_set(conf, "spark.submit.deployMode", "cluster");
        conf_set(conf, "spark.ui.port", "0"); /* as Spark: several drivers may run on a node */
        return log4j2_configure(conf, getenv("SPARK_CONF_DIR"), error);
}

static bool cluster_driver_has_context(void)
{
        return __atomic_load_n(&yarn_manager_outcome()->started, __ATOMIC_ACQUIRE);
}

/* Sets the variables from which the context learns where the driver's logs are. */
static void cluster_driver_set_links(const struct fst_conf *conf)
{
        _cleanup_(yarn_conf_deinit) struct yarn_conf yarn = {0};
        struct strmap variables = {0};
        const char *container = getenv("CONTAINER_ID"), *host = getenv("NM_HOST"), *web = getenv("NM_HTTP_PORT");
        const char *port = getenv("NM_PORT"), *user = getenv("SPARK_USER");
        if (!container || !host || !web || yarn_conf_load(&yarn, &conf->set, cluster_driver_variable, NULL) < 0)
                return;
        _cleanup_free_ char *address = mem_printf("%s:%s", host, web);
        _cleanup_free_ char *name = user ? mem_strdup(user) : hadoop_conf_user(&yarn.hadoop);
        log_links_add(&(struct log_links){.conf = &yarn,
                                          .container = container,
                                          .user = name,
                                          .http_address = address,
                                          .node_port = port ? port : "-1"},
                      "SPARK_DRIVER_LOG_URL_", "SPARK_DRIVER_ATTRIBUTE_", &variables);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&variables, e));)
                setenv(e->key, e->value, 1);
        strmap_deinit(&variables);
}

/* Whether the application cannot go on, for a reason outside the driver. */
static bool cluster_driver_executors_failed(struct outcome *outcome)
{
        const struct yarn_manager_outcome *manager = yarn_manager_outcome();
        const int exit_code = __atomic_load_n(&manager->exit_code, __ATOMIC_ACQUIRE);
        if (exit_code)
                *outcome = (struct outcome){YARN_FINAL_FAILED, exit_code, mem_strdup(manager->failure)};
        return exit_code;
}

/* The status of the user's main, with the first failure of its context. The caller owns it. */
static char *cluster_driver_status_message(int status)
{
        _cleanup_free_ char *reason = failure_reason_text();
        return mem_printf("User application exited with status %d%s%s", status, reason ? ": " : "",
                          reason ? reason : "");
}

static int cluster_driver_run_python(const struct cluster_driver_options *o, struct fst_conf *conf, int *status,
                                     struct fst_error *error)
{
        const struct python_driver driver = {
                .file = o->python, .pyspark = o->pyspark, .arguments = o->arguments, .n = o->n, .conf = conf};
        const int r = python_driver_run(&driver, status, error);
        while (exit_hooks_status()) /* a hook has ended Python: its status is not the program's, and the hook reports */
                pause();
        return r;
}

/* R ends with its ApplicationMaster: it is a group of its own that the end of this process kills. */
static int cluster_driver_run_r(const struct cluster_driver_options *o, const struct fst_conf *conf, int *status,
                                struct fst_error *error)
{
        struct native_program program = {.shown = o->r, .conf = conf};
        int r = native_program_prepare(&program, error);
        if (r == 0)
                r = sparkr_run(o->r, o->arguments, o->n, status, error);
        while (exit_hooks_status()) /* as with Python */
                pause();
        return r;
}

static int cluster_driver_run_native(const struct cluster_driver_options *o, const struct fst_conf *conf, int *status,
                                     struct fst_error *error)
{
        const struct native_program program = {.path = o->application,
                                               .shown = o->application,
                                               .entry = o->entry,
                                               .arguments = o->arguments,
                                               .n = o->n,
                                               .conf = conf};
        const int r = native_program_prepare(&program, error);
        return r < 0 ? r : native_program_run(&program, status, error);
}

/* Runs the application, and judges what became of it. */
static struct outcome cluster_driver_run_application(const struct cluster_driver_options *o, struct fst_conf *conf)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int status = 0, r = o->python ? cluster_driver_run_python(o, conf, &status, &error)
                            : o->r    ? cluster_driver_run_r(o, conf, &status, &error)
                                      : cluster_driver_run_native(o, conf, &status, &error);
        struct outcome failure;
        if (cluster_driver_executors_failed(&failure))
                return failure;
        if (r < 0 || error.message)
                return (struct outcome){YARN_FINAL_FAILED, YARN_AM_EXIT_USER_CLASS, mem_strdup(error_message(&error))};
        if (status != 0)
                return (struct outcome){YARN_FINAL_FAILED, status, cluster_driver_status_message(status)};
        if (!cluster_driver_has_context())
                return (struct outcome){YARN_FINAL_FAILED, YARN_AM_EXIT_SC_NOT_INITED,
                                        mem_strdup("User did not initialize spark context!")};
        return (struct outcome){YARN_FINAL_SUCCEEDED, YARN_AM_EXIT_SUCCESS, NULL};
}

/* ---------------------------------------------------------------------------------------------------- unregistering */

static void cluster_driver_on_finished(void *owner)
{
        *(bool *)owner = true;
}

static bool cluster_driver_is_finished(void *owner)
{
        return *(const bool *)owner;
}

/* An application that never registered does so first: the ResourceManager accepts no end without it. */
static void cluster_driver_on_registered(void *owner, int64_t memory_mb, int cores)
{
}

static void cluster_driver_on_failed(void *owner, int exit_code, const char *message)
{
        log_error(AM_LOG, "%s", message);
        *(bool *)owner = true;
}

static const struct yarn_executors_ops unregister_ops = {.registered = cluster_driver_on_registered,
                                                         .failed = cluster_driver_on_failed,
                                                         .finished = cluster_driver_on_finished};

static int cluster_driver_unregister(const struct fst_conf *conf, const struct yarn_conf *yarn,
                                     const struct outcome *outcome, const char *history, struct fst_error *error)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials own = {0};
        const char *tokens = getenv("HADOOP_TOKEN_FILE_LOCATION");
        struct yarn_executors *executors;
        bool finished = false;
        uv_loop_t loop;
        int64_t max_message = 0;
        int r = hadoop_credentials_load(&own, tokens ? tokens : "", error);
        const struct hadoop_token *token = r < 0 ? NULL : hadoop_credentials_find(&own, "YARN_AM_RM_TOKEN", NULL);
        if (r < 0)
                return r;
        if (!token)
                return error_set(error, -EACCES,
                                 "the container's credentials hold no token for the ResourceManager (let YARN start "
                                 "firesteel yarn-am)");
        if (am_final_message_limit_read(conf, &max_message, NULL) < 0)
                max_message = 0; /* an invalid limit may be the reason, which must be told */
        uv_loop_init(&loop);
        const struct yarn_executors_options options = {
                .conf = yarn, .token = token, .host = "", .history_url = history, .max_final_message = max_message};
        r = yarn_executors_new(&loop, &options, &unregister_ops, &finished, &executors, error);
        if (r == 0) {
                yarn_executors_finish(executors, outcome->status, outcome->message);
                loop_wait(&loop, cluster_driver_is_finished, &finished, UNREGISTER_MS);
                yarn_executors_free(executors);
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        return r;
}

/* Whether YARN starts no other attempt after this one. */
static bool cluster_driver_is_last_attempt(const struct fst_conf *conf, const struct yarn_conf *yarn)
{
        int64_t most = DEFAULT_ATTEMPTS, own = 0;
        struct yarn_container_id id;
        const char *container = getenv("CONTAINER_ID");
        yarn_conf_get_int(yarn, "yarn.resourcemanager.am.max-attempts", DEFAULT_ATTEMPTS, &most, NULL);
        if (conf_get_value(conf, "spark.yarn.maxAppAttempts") &&
            conf_get_int(conf, "spark.yarn.maxAppAttempts", &own, NULL) == 0)
                most = MIN(most, own);
        return !container || yarn_container_parse(container, &id, NULL) < 0 || id.attempt >= most;
}

static void cluster_driver_clean_up(const struct fst_conf *conf)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *staging = getenv("SPARK_YARN_STAGING_DIR");
        const struct file_system *fs;
        _cleanup_free_ char *path = NULL;
        bool preserve = false;
        conf_get_bool(conf, "spark.yarn.preserve.staging.files", &preserve, NULL);
        if (preserve || !staging)
                return;
        log_info(AM_LOG, "Deleting staging directory %s", staging);
        file_systems_use(conf, &conf->set);
        int r = file_system_resolve(staging, &path, &fs, &error);
        r = r < 0 ? r : fs->remove(fs, path, &error);
        if (r < 0)
                log_error(AM_LOG, "Failed to cleanup staging dir %s: %s", staging, error_message(&error));
        file_systems_leave(conf);
}

/* The caller owns it. */
static char *cluster_driver_history(const struct fst_conf *conf, const struct yarn_conf *yarn)
{
        const char *container = getenv("CONTAINER_ID");
        struct yarn_container_id id;
        char text[YARN_ID_TEXT];
        if (!container || yarn_container_parse(container, &id, NULL) < 0)
                return mem_strdup("");
        return history_address(conf, yarn, yarn_application_text(id.application, text), id.attempt);
}

static void cluster_driver_finish(const struct fst_conf *conf, const struct outcome *outcome)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(yarn_conf_deinit) struct yarn_conf yarn = {0};
        yarn_manager_ignore_failures();
        log_info(AM_LOG, "Final app status: %s, exitCode: %d%s%s%s", yarn_final_status_name((int)outcome->status),
                 outcome->exit_code, outcome->message ? ", (reason: " : "", outcome->message ? outcome->message : "",
                 outcome->message ? ")" : "");
        int r = yarn_conf_load(&yarn, &conf->set, cluster_driver_variable, &error);
        if (r == 0 && (outcome->status == YARN_FINAL_SUCCEEDED || cluster_driver_is_last_attempt(conf, &yarn))) {
                cluster_driver_clean_up(conf);
                log_info(AM_LOG, "Unregistering ApplicationMaster with %s",
                         yarn_final_status_name((int)outcome->status));
                _cleanup_free_ char *history = cluster_driver_history(conf, &yarn);
                r = cluster_driver_unregister(conf, &yarn, outcome, history, &error);
        }
        if (r < 0)
                log_error(AM_LOG, "The application cannot be unregistered: %s", error_message(&error));
}

/* ------------------------------------------------------------------------------------------------- ending it early */

/* The process ends once: by the return of the application, its exit(), a signal, or because it makes no context. */
static struct {
        pthread_mutex_t lock;
        bool finished;
        const struct fst_conf *conf;
        pid_t pid; /* children of the application that call exit() do not end it */
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A second call waits for the end of the first one. Returns false if the end was reported before. */
static bool cluster_driver_finish_once(const struct outcome *outcome)
{
        pthread_mutex_lock(&ending.lock);
        const bool first = !ending.finished;
        ending.finished = true;
        if (first)
                cluster_driver_finish(ending.conf, outcome);
        pthread_mutex_unlock(&ending.lock);
        return first;
}

/* The application has called exit(), or a signal or failed executors end the process (Spark's shutdown hook). */
static void cluster_driver_end_early(void *unused)
{
        struct outcome outcome;
        if (getpid() != ending.pid)
                return;
        if (!cluster_driver_executors_failed(&outcome))
                outcome =
                        (struct outcome){YARN_FINAL_FAILED,
                                         cluster_driver_has_context() ? YARN_AM_EXIT_EARLY : YARN_AM_EXIT_SC_NOT_INITED,
                                         mem_strdup("Shutdown hook called before final status was reported.")};
        cluster_driver_finish_once(&outcome);
        free(outcome.message);
}

static void cluster_driver_on_exit(void)
{
        cluster_driver_end_early(NULL);
}

static void *cluster_driver_wait_for_context(void *limit)
{
        const int64_t ms = *(int64_t *)limit;
        const struct outcome outcome = {YARN_FINAL_FAILED, YARN_AM_EXIT_SC_NOT_INITED,
                                        (char *)"Timed out waiting for SparkContext."};
        struct timespec left = timespec_of_ns(ms_to_ns(ms));
        while (nanosleep(&left, &left) != 0)
                ;
        pthread_mutex_lock(&ending.lock);
        const bool finished = ending.finished;
        pthread_mutex_unlock(&ending.lock);
        if (finished || cluster_driver_has_context())
                return NULL;
        log_error(
                AM_LOG,
                "SparkContext did not initialize after waiting for %lld ms. Please check earlier log output for errors. "
                "Failing the application.",
                (long long)ms);
        if (cluster_driver_finish_once(&outcome))
                exit_hooks_exit(outcome.exit_code); /* ends a program in Python, too */
        return NULL;
}

/* From now on an early end of the process is reported to the ResourceManager. */
static int cluster_driver_watch(const struct fst_conf *conf, struct fst_error *error)
{
        static int64_t limit;
        pthread_t thread;
        ending.conf = conf;
        ending.pid = getpid();
        atexit(cluster_driver_on_exit);
        int r = exit_hooks_add(cluster_driver_end_early, NULL, error);
        r = r < 0 ? r : am_wait_time_read(conf, &limit, error);
        if (r < 0)
                return r;
        r = -pthread_create(&thread, NULL, cluster_driver_wait_for_context, &limit);
        if (r < 0)
                return error_set(error, r, "a thread cannot be started: %s", strerror(-r));
        pthread_detach(thread);
        return 0;
}

int cluster_driver_run(const struct cluster_driver_options *options)
{
        static struct fst_conf conf; /* lives as long as the process */
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (cluster_driver_read_conf(options, &conf, &error) < 0) {
                log_error(AM_LOG, "Uncaught exception: %s", error_message(&error));
                return YARN_AM_EXIT_UNCAUGHT_EXCEPTION;
        }
        log_capture_start_driver(&conf); /* it forks, so it comes before the threads, and ends after the last line */
        if (cluster_driver_watch(&conf, &error) < 0) {
                struct outcome uncaught = {YARN_FINAL_FAILED, YARN_AM_EXIT_UNCAUGHT_EXCEPTION,
                                           mem_printf("Uncaught exception: %s", error_message(&error))};
                cluster_driver_finish_once(&uncaught);
                free(uncaught.message);
                return YARN_AM_EXIT_UNCAUGHT_EXCEPTION;
        }
        cluster_driver_set_links(&conf);
        struct outcome outcome = cluster_driver_run_application(options, &conf);
        cluster_driver_finish_once(&outcome);
        free(outcome.message);
        return outcome.exit_code;
}
