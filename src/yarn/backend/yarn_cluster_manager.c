/*
 * See yarn_cluster_manager.h. The driver's process is the ApplicationMaster (spark.yarn.unmanagedAM.enabled): announce
 * uploads Firesteel and submits the application, start registers with the token of the application's report and runs
 * yarn_executors on the backend's loop, stop unregisters.
 */
#include "yarn/backend/yarn_cluster_manager.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "hadoop/rpc_client.h"
#include "io/fs/file_systems.h"
#include "net/security.h"
#include "sched/allocation/executor_allocation.h"
#include "yarn/backend/executor_launch.h"
#include "yarn/backend/unmanaged_application.h"
#include "yarn/backend/yarn_executors.h"
#include "yarn/conf/am_settings.h"
#include "yarn/conf/executor_size.h"
#include "yarn/application/cluster_file.h"
#include "yarn/application/program_archive.h"

#include <stdio.h>
#include <stdlib.h>

#define LOG "YarnClientSchedulerBackend"
#define SECRET "spark.authenticate.secret"
#define UNREGISTER_MS 10000 /* limit for unregistering */

struct yarn_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        struct yarn_conf conf;
        struct am_settings settings;
        struct yarn_executor_size size;
        struct hadoop_rpc_client *rm;
        struct unmanaged_application app;
        bool submitted;
        char *app_id, *driver_url, *staging_dir;
        struct cluster_file program;
        struct hadoop_credentials credentials; /* of containers */
        struct executor_launch launch;
        struct yarn_executors *executors; /* NULL: not started */
        int target;                       /* executors set before the start; -1: not set */
        int32_t last_executor;            /* the highest id that was launched */
        bool finishing, finished, failed;
        char *failure; /* why the application cannot go on */
};

static struct yarn_manager *yarn_manager_of(struct executor_manager *manager)
{
        return container_of(manager, struct yarn_manager, manager);
}

/* Parses an executor id. Ids are positive numbers that the allocator assigns: -1 is not an executor in a container. */
static int32_t yarn_executor_number(const char *executor_id)
{
        char *end;
        const long id = strtol(executor_id, &end, 10);
        return *executor_id && !*end && id > 0 && id <= INT32_MAX ? (int32_t)id : -1;
}

/* ---------------------------------------------------------------------------------------------------- announcing it */

static const char *yarn_variable(const char *name)
{
        return getenv(name);
}

static int yarn_connect(struct yarn_manager *m, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list addresses = {0};
        if (!getenv("HADOOP_CONF_DIR") && !getenv("YARN_CONF_DIR"))
                return error_set(error, -EINVAL,
                                 "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set "
                                 "in the environment.");
        int r = yarn_conf_load(&m->conf, &m->sc->conf->set, yarn_variable, error);
        r = r < 0 ? r : yarn_conf_addresses(&m->conf, YARN_RM_CLIENT, &addresses, error);
        if (r < 0)
                return r;
        log_info("Client", "Connecting to ResourceManager at %s", addresses.data[0]);
        return yarn_conf_client(&m->conf, YARN_RM_CLIENT, NULL, NULL, cluster_backend_loop(m->backend), &m->rm, error);
}

static int yarn_ship_program(struct yarn_manager *m, struct fst_error *error)
{
        _cleanup_(program_archive_deinit) struct program_archive archive = {0};
        const struct fst_conf *conf = m->sc->conf;
        _cleanup_free_ char *folder = NULL;
        int r = conf_get_string(conf, "spark.firesteel.yarn.cacheDir", &folder, error);
        r = r < 0 ? r : program_archive_find(conf_get_value(conf, "spark.local.dir"), &archive, error);
        if (r < 0)
                return r;
        file_systems_use(m, &conf->set); /* the context does it later */
        r = cluster_file_store(folder, archive.path, archive.sha256, ".tar.gz", &m->program, error);
        file_systems_leave(m);
        return r;
}

/* The directory that Spark would use for the application's files. */
static void yarn_name_staging_dir(struct yarn_manager *m)
{
        const char *set = conf_get_value(m->sc->conf, "spark.yarn.stagingDir");
        _cleanup_free_ char *root = yarn_conf_get(&m->conf, "fs.defaultFS", "file:///");
        m->staging_dir = set ? mem_printf("%s/.sparkStaging/%s", set, m->app_id)
                             : mem_printf("%s/user/%s/.sparkStaging/%s", root, m->sc->user, m->app_id);
}

static int yarn_announce(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                         char **app_id, struct fst_error *error)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        char text[YARN_ID_TEXT];
        m->backend = backend;
        int r = yarn_connect(m, error);
        r = r < 0 ? r : unmanaged_application_create(m->rm, &m->app, error);
        if (r < 0)
                return r;
        m->app_id = mem_strdup(yarn_application_text(m->app.id, text));
        yarn_name_staging_dir(m);
        log_info("Client",
                 "Verifying our application has not requested more than the maximum memory capability of the cluster "
                 "(%lld MB per container)",
                 (long long)m->app.most_mb);
        r = yarn_executor_size_check(&m->size, m->app.most_mb, error);
        r = r < 0 ? r : yarn_ship_program(m, error);
        r = r < 0 ? r : unmanaged_application_submit(m->rm, m->sc->conf, &m->app, error);
        if (r < 0)
                return r;
        m->submitted = true;
        *app_id = mem_strdup(m->app_id);
        return 0;
}

/* --------------------------------------------------------------------------------------------------- executor events
 */

static void yarn_on_registered(void *owner, int64_t memory_mb, int cores)
{
        log_info(LOG, "ApplicationMaster registered: containers have at most %lld MB and %d cores",
                 (long long)memory_mb, cores);
}

static const Firesteel__Yarn__ContainerLaunchContext *yarn_on_launch(void *owner, const struct yarn_launch *launch)
{
        struct yarn_manager *m = owner;
        m->last_executor = MAX(m->last_executor, launch->executor);
        executor_launch_fill(&m->launch,
                             &(struct executor_launch_options){.conf = m->sc->conf,
                                                               .driver_url = m->driver_url,
                                                               .app_id = m->app_id,
                                                               .user = m->sc->user,
                                                               .staging_dir = m->staging_dir,
                                                               .http_scheme = yarn_conf_http_scheme(&m->conf),
                                                               .program = &m->program,
                                                               .credentials = &m->credentials,
                                                               .cores = m->size.cores},
                             launch);
        return &m->launch.message;
}

static void yarn_on_exited(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason)
{
        const struct yarn_manager *m = owner;
        char id[12];
        snprintf(id, sizeof(id), "%d", executor);
        cluster_backend_executor_exited(m->backend, id, caused_by_app, reason);
}

static void yarn_on_decommission(void *owner, int32_t executor, const char *host)
{
        const struct yarn_manager *m = owner;
        _cleanup_free_ char *reason = mem_printf("YARN is decommissioning the node %s", host);
        char id[12];
        snprintf(id, sizeof(id), "%d", executor);
        cluster_backend_executor_decommissioned(m->backend, id, true, reason);
}

/* The report of an application that YARN has ended says why. */
static void yarn_on_report(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_manager *m = owner;
        const Firesteel__Yarn__GetApplicationReportResponse *answer =
                (Firesteel__Yarn__GetApplicationReportResponse *)result->answer;
        const Firesteel__Yarn__ApplicationReport *report = result->status == 0 ? answer->report : NULL;
        if (report && report->state >= YARN_FINISHED) {
                _cleanup_free_ char *why =
                        mem_printf("YARN application has exited unexpectedly with state %s! Check the YARN application "
                                   "logs for more details.%s%s",
                                   yarn_application_state_name(report->state), *report->diagnostics ? " " : "",
                                   report->diagnostics);
                log_error(LOG, "%s", why);
                m->finished = true;
                cluster_backend_abort(m->backend, why);
        } else {
                log_error(LOG, "Application has been killed. Reason: %s", m->failure);
                yarn_executors_finish(m->executors, YARN_FINAL_FAILED, m->failure, NULL);
                cluster_backend_abort(m->backend, m->failure);
        }
        protobuf_c_message_free_unpacked(result->answer, NULL);
}

static void yarn_on_failed(void *owner, int exit_code, const char *message)
{
        struct yarn_manager *m = owner;
        Firesteel__Yarn__GetApplicationReportRequest request = FIRESTEEL__YARN__GET_APPLICATION_REPORT_REQUEST__INIT;
        Firesteel__Yarn__ApplicationId id = FIRESTEEL__YARN__APPLICATION_ID__INIT;
        log_info("ApplicationMaster", "Final app status: FAILED, exitCode: %d, (reason: %s)", exit_code, message);
        m->failed = true;
        m->failure = mem_strdup(message);
        id.has_id = id.has_cluster_timestamp = true;
        id.id = m->app.id.id;
        id.cluster_timestamp = m->app.id.cluster_timestamp;
        request.application_id = &id;
        const struct hadoop_rpc_call call = {.method = "getApplicationReport",
                                             .answer = &firesteel__yarn__get_application_report_response__descriptor,
                                             .done = yarn_on_report,
                                             .owner = m};
        hadoop_rpc_client_call(m->rm, &call, &request.base);
}

static void yarn_on_finished(void *owner)
{
        struct yarn_manager *m = owner;
        m->finished = true;
}

static const struct yarn_executors_ops yarn_ops = {.registered = yarn_on_registered,
                                                   .launch_context = yarn_on_launch,
                                                   .exited = yarn_on_exited,
                                                   .decommission = yarn_on_decommission,
                                                   .failed = yarn_on_failed,
                                                   .finished = yarn_on_finished};

/* --------------------------------------------------------------------------------------------------------- starting it
 */

static void yarn_add_profile(struct yarn_manager *m, int profile)
{
        const size_t n = m->size.resources.list.len;
        Firesteel__Yarn__ResourceValue *values = new_array(Firesteel__Yarn__ResourceValue, n + 1);
        Firesteel__Yarn__ResourceValue **list = new_array(Firesteel__Yarn__ResourceValue *, n + 1);
        _cleanup_(buf_deinit) struct buf custom = BUF_INIT;
        for (size_t i = 0; i < n; i++) {
                const struct container_resource *from = &m->size.resources.list.data[i];
                firesteel__yarn__resource_value__init(&values[i]);
                values[i].key = from->name;
                values[i].has_value = true;
                values[i].value = from->amount;
                values[i].units = from->units;
                list[i] = &values[i];
                buf_printf(&custom, "%s%s: %lld%s", i ? ", " : " with custom resources: ", from->name,
                           (long long)from->amount, from->units);
        }
        yarn_executors_add_profile(m->executors,
                                   &(struct yarn_profile){.id = profile,
                                                          .memory_mb = m->size.total_mb,
                                                          .cores = m->size.cores,
                                                          .tasks_per_executor = m->size.tasks,
                                                          .custom = custom.len ? custom.data : NULL},
                                   list, n);
        free(list);
        free(values);
}

static bool yarn_request_executors(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        for (int i = 0; i < n; i++) {
                const struct executor_request *from = &requests[i];
                if (!m->executors) {
                        m->target = from->profile == 0 ? from->target : m->target;
                        continue;
                }
                struct yarn_host_tasks *hosts = new_array(struct yarn_host_tasks, (size_t)from->n_hosts + 1);
                for (int k = 0; k < from->n_hosts; k++)
                        hosts[k] = (struct yarn_host_tasks){.host = from->hosts[k].host, .tasks = from->hosts[k].tasks};
                yarn_add_profile(m, from->profile);
                yarn_executors_set_targets(m->executors,
                                           &(struct yarn_target){.profile = from->profile,
                                                                 .total = from->target,
                                                                 .locality_tasks = from->local_tasks,
                                                                 .hosts = hosts,
                                                                 .n_hosts = (size_t)from->n_hosts},
                                           1, NULL, 0);
                free(hosts);
        }
        return true;
}

/* The secret travels in the containers' credentials, which other users cannot read. */
static int yarn_add_secret(struct yarn_manager *m, struct fst_error *error)
{
        bool wanted;
        const int r = conf_get_bool(m->sc->conf, "spark.authenticate", &wanted, error);
        const char *secret = getenv("_SPARK_AUTH_SECRET");
        secret = secret ? secret : conf_get_raw(m->sc->conf, SECRET);
        if (r == 0 && wanted && secret)
                hadoop_credentials_add_secret(&m->credentials, HADOOP_SECRET_OF_SPARK, secret, strlen(secret));
        return r;
}

static int yarn_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                      struct fst_error *error)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        const struct am_settings *s = &m->settings;
        m->driver_url = mem_strdup(driver_url);
        const struct yarn_executors_options options = {
                .conf = &m->conf,
                .token = &m->app.token,
                .host = m->sc->host,
                .heartbeat_ms = s->heartbeat_ms,
                .initial_ms = s->initial_ms,
                .max_failures = s->max_heartbeat_failures,
                .node_label = s->executor_label,
                .allocator = {.max_executor_failures = s->max_executor_failures,
                              .ignore_locality = s->executor_label != NULL,
                              .health = {.exclude_on_launch_failure = s->exclude_on_launch_failure,
                                         .max_failures = s->max_failures_per_node,
                                         .timeout = s->exclude_timeout,
                                         .excluded = s->excluded,
                                         .failures_validity = s->failures_validity}}};
        int r = yarn_add_secret(m, error);
        r = r < 0 ? r : yarn_executors_new(cluster_backend_loop(backend), &options, &yarn_ops, m, &m->executors, error);
        if (r < 0)
                return r;
        const struct executor_request request = {.target = m->target >= 0 ? m->target : s->initial_executors};
        yarn_request_executors(manager, &request, 1);
        yarn_executors_register(m->executors);
        return 0;
}

static int yarn_make_secret(struct executor_manager *manager, struct fst_error *error)
{
        struct fst_conf *conf = yarn_manager_of(manager)->sc->conf;
        _cleanup_free_ char *secret = NULL;
        const int r = security_make_secret(conf, &secret, error);
        if (r == 0)
                conf_set(conf, SECRET, secret);
        return r;
}

/* ------------------------------------------------------------------------------------------------------- while it runs
 */

static bool yarn_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct yarn_manager *m = container_of(manager, const struct yarn_manager, manager);
        const int32_t id = yarn_executor_number(executor_id);
        return id < 0 || id > m->last_executor;
}

static void yarn_registered(struct executor_manager *manager, const char *executor_id)
{
}

static void yarn_kill(struct executor_manager *manager, const char *executor_id)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        const int32_t id = yarn_executor_number(executor_id);
        cluster_backend_send_stop(m->backend, executor_id);
        if (id > 0 && m->executors)
                yarn_executors_kill(m->executors, id);
}

static int64_t yarn_expected_cores(const struct executor_manager *manager, double *ratio)
{
        const struct yarn_manager *m = container_of(manager, const struct yarn_manager, manager);
        *ratio = 0.8; /* Spark's default for YARN */
        return (int64_t)(m->target >= 0 ? m->target : m->settings.initial_executors) * m->size.cores;
}

/* ---------------------------------------------------------------------------------------------------------- ending it
 */

static void yarn_on_timeout(uv_timer_t *timer)
{
        timer->data = NULL;
}

/* YARN ends the containers that are left when the application is unregistered. */
static void yarn_unregister(struct yarn_manager *m)
{
        uv_loop_t *loop = cluster_backend_loop(m->backend);
        uv_timer_t timeout;
        if (!m->finishing && !m->failed) {
                log_info("ApplicationMaster", "Unregistering ApplicationMaster with SUCCEEDED");
                yarn_executors_finish(m->executors, YARN_FINAL_SUCCEEDED, NULL, NULL);
        }
        m->finishing = true;
        uv_timer_init(loop, &timeout);
        timeout.data = m;
        uv_timer_start(&timeout, yarn_on_timeout, UNREGISTER_MS, 0);
        while (timeout.data && !m->finished)
                uv_run(loop, UV_RUN_ONCE);
        if (!m->finished)
                log_warn(LOG, "The ResourceManager did not confirm the end of %s in time", m->app_id);
        uv_close((uv_handle_t *)&timeout, NULL);
        uv_run(loop, UV_RUN_NOWAIT); /* the timer is on our stack */
}

/* A submitted application that never registered. */
static void yarn_kill_application(struct yarn_manager *m)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        bool killed;
        if (yarn_rm_kill(m->rm, m->app.id, "the driver could not start", &killed, &error) < 0)
                log_warn(LOG, "%s cannot be killed: %s", m->app_id, error_message(&error));
}

static bool yarn_stopped(struct executor_manager *manager)
{
        return true; /* the executors were told to stop; `stop` ends what is left */
}

static void yarn_leave(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        if (m->executors)
                yarn_unregister(m);
        else if (m->submitted)
                yarn_kill_application(m);
}

static void yarn_stop(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        yarn_leave(manager);
        yarn_executors_free(steal(m->executors));
        hadoop_rpc_client_free(steal(m->rm));
        m->submitted = false;
}

static void yarn_free(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        executor_launch_deinit(&m->launch);
        hadoop_credentials_deinit(&m->credentials);
        cluster_file_deinit(&m->program);
        unmanaged_application_deinit(&m->app);
        yarn_executor_size_deinit(&m->size);
        am_settings_deinit(&m->settings);
        yarn_conf_deinit(&m->conf);
        free(m->app_id);
        free(m->driver_url);
        free(m->staging_dir);
        free(m->failure);
        free(m);
}

static const struct executor_manager_class yarn_class = {
        .name = "yarn",
        .make_secret = yarn_make_secret,
        .announce = yarn_announce,
        .start = yarn_start,
        .refuses = yarn_refuses,
        .registered = yarn_registered,
        .request_executors = yarn_request_executors,
        .kill = yarn_kill,
        .expected_cores = yarn_expected_cores,
        .stopped = yarn_stopped,
        .leave = yarn_leave,
        .stop = yarn_stop,
        .free = yarn_free,
};

static int yarn_manager_check_mode(const struct fst_conf *conf, struct fst_error *error)
{
        bool unmanaged;
        const int r = conf_get_bool(conf, "spark.yarn.unmanagedAM.enabled", &unmanaged, error);
        if (r < 0)
                return r;
        return unmanaged ? 0
                         : error_set(error, -ENOTSUP,
                                     "Firesteel runs native applications on YARN only with the ApplicationMaster in "
                                     "the driver's process: set spark.yarn.unmanagedAM.enabled=true");
}

int yarn_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct yarn_manager *m = new0(struct yarn_manager);
        m->manager.class = &yarn_class;
        m->sc = sc;
        m->target = -1;
        int r = yarn_manager_check_mode(sc->conf, error);
        r = r < 0 ? r : am_settings_read(sc->conf, &m->settings, error);
        r = r < 0 ? r : yarn_executor_size_read(sc->conf, &m->size, error);
        if (r < 0)
                yarn_free(&m->manager);
        else
                *out = &m->manager;
        return r;
}
