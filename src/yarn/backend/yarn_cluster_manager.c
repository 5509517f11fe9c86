/*
 * See yarn_cluster_manager.h. `announce` uploads Firesteel and submits the application. Then the ApplicationMaster is
 *
 *      a container    `firesteel yarn-am` connects to the driver (am_link.h). The ResourceManager is asked now and then
 *                     whether the application still runs
 *      this process   with spark.yarn.unmanagedAM.enabled: executor_containers on the backend's loop
 *
 * In cluster mode the application is submitted already, and this process is the ApplicationMaster in a container.
 */
#include "yarn/backend/yarn_cluster_manager.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "driver/events/driver_ui.h"
#include "driver/resources/resource_profiles.h"
#include "exec/exit_hooks.h"
#include "hadoop/rpc_client.h"
#include "io/fs/file_systems.h"
#include "net/security.h"
#include "process/loop_wait.h"
#include "sched/allocation/executor_allocation.h"
#include "yarn/application/application_acl.h"
#include "yarn/application/application_client.h"
#include "yarn/application/application_monitor.h"
#include "yarn/application/container_links.h"
#include "yarn/application/delegation_tokens.h"
#include "yarn/application/cluster_file.h"
#include "yarn/application/program_archive.h"
#include "yarn/application/yarn_settings.h"
#include "yarn/backend/am_link.h"
#include "yarn/backend/executor_containers.h"
#include "yarn/conf/am_proxy_filter.h"
#include "yarn/conf/rack_resolver.h"
#include "yarn/backend/token_renewer.h"

#include <stdio.h>
#include <stdlib.h>

#define LOG "YarnClientSchedulerBackend"
#define SECRET "spark.authenticate.secret"
#define UNREGISTER_MS 10000 /* limit for unregistering */

struct yarn_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        struct yarn_settings settings; /* of the submission */
        struct application_client app;
        struct application_monitor reports; /* logs them until the application runs */
        bool am_is_running;
        bool inside;        /* cluster mode: this process is the ApplicationMaster in a container */
        bool unmanaged;     /* this process hosts the executors */
        bool exit_on_error; /* client mode: a failed or killed application ends this process */
        int32_t attempt;    /* if it does */
        bool submitted;
        struct executor_containers containers; /* settings; executors only if unmanaged */
        struct am_link *link;                  /* NULL: unmanaged, or not started */
        uv_timer_t *monitor;                   /* asks for the application's state; NULL: unmanaged, or not started */
        struct token_renewer *renewer;         /* NULL: delegation tokens are not renewed */
        int target;                            /* executors set before the start; -1: not set */
        struct rack_resolver racks;            /* for tasks; those of containers are the ApplicationMaster's */
        bool has_racks;                        /* `racks` is set up */
        struct string_list executors;          /* ids of those that are registered */
        VEC(struct yarn_kept) kept;            /* executors of an earlier attempt; hosts are owned */
        int32_t last_executor;                 /* ids up to this one were used by earlier attempts */
        bool finishing, finished, failed, reporting;
        char *failure; /* why the application cannot go on */
};

static struct yarn_manager_outcome outcome;

static bool ignores_failures; /* atomic */

void yarn_manager_ignore_failures(void)
{
        __atomic_store_n(&ignores_failures, true, __ATOMIC_RELEASE);
}

const struct yarn_manager_outcome *yarn_manager_outcome(void)
{
        return &outcome;
}

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
        struct yarn_conf *conf = &m->containers.yarn_conf;
        if (!getenv("HADOOP_CONF_DIR") && !getenv("YARN_CONF_DIR"))
                return error_set(error, -EINVAL,
                                 "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set "
                                 "in the environment.");
        int r = yarn_conf_load(conf, &m->sc->conf->set, yarn_variable, error);
        r = r < 0 ? r : yarn_conf_addresses(conf, YARN_RM_CLIENT, &addresses, error);
        r = r < 0 ? r
                  : delegation_tokens_of_submission(m->sc->conf, conf, getenv("HADOOP_TOKEN_FILE_LOCATION"),
                                                    &m->containers.credentials, error);
        if (r < 0)
                return r;
        log_info("Client", "Connecting to ResourceManager at %s", addresses.data[0]);
        return yarn_conf_client(conf, YARN_RM_CLIENT, NULL, NULL, cluster_backend_loop(m->backend), &m->app.rm, error);
}

static int yarn_ship_program(struct yarn_manager *m, struct fst_error *error)
{
        _cleanup_(cluster_folder_deinit) struct cluster_folder folder = {0};
        _cleanup_free_ char *text = NULL;
        struct local_resource program = {0};
        int r = conf_get_string(m->sc->conf, "spark.firesteel.yarn.cacheDir", &text, error);
        if (r < 0)
                return r;
        file_systems_use(m, &m->sc->conf->set); /* the context does it later */
        r = cluster_folder_open(text, &folder, error);
        r = r < 0 ? r : program_archive_store(m->sc->conf, &folder, &program, error);
        file_systems_leave(m);
        if (r == 0)
                vec_push(&m->containers.resources.list, program);
        return r;
}

/* Sets what containers need. The staging directory is the one that Spark would use for the application's files. */
static void yarn_name_application(struct yarn_manager *m, const char *driver_url)
{
        struct executor_containers *c = &m->containers;
        const char *set = conf_get_value(m->sc->conf, "spark.yarn.stagingDir");
        char text[YARN_ID_TEXT];
        c->app_id = mem_strdup(yarn_application_text(m->app.id, text));
        c->driver_url = mem_strdup(driver_url);
        c->user = hadoop_conf_user(&c->yarn_conf.hadoop);
        if (m->inside) {
                const char *given = getenv("SPARK_YARN_STAGING_DIR");
                c->staging_dir = given ? mem_strdup(given) : NULL;
        } else if (set) {
                c->staging_dir = mem_printf("%s/.sparkStaging/%s", set, c->app_id);
        } else {
                _cleanup_free_ char *root = yarn_conf_get(&c->yarn_conf, "fs.defaultFS", "file:///");
                c->staging_dir = mem_printf("%s/user/%s/.sparkStaging/%s", root, c->user, c->app_id);
        }
}

/* Submits the application; @driver_url is "spark://NAME@host:port". */
static int yarn_submit(struct yarn_manager *m, const char *driver_url, struct fst_error *error)
{
        struct executor_containers *c = &m->containers;
        _cleanup_(buf_deinit) struct buf tokens = BUF_INIT;
        int r = application_acls(m->sc->conf, c->user, &c->view_acl, &c->modify_acl, error);
        if (r < 0)
                return r;
        struct application_submission submission = {
                .yarn = &c->yarn_conf, .settings = &m->settings, .view_acl = c->view_acl, .modify_acl = c->modify_acl};
        if (m->unmanaged) {
                /* It compares the name of the user, "carol", with that of the caller, "alice@REALM" or a proxy user. */
                _cleanup_free_ char *other = hadoop_conf_proxy_user(&c->yarn_conf.hadoop);
                if (yarn_conf_is_secure(&c->yarn_conf) && !other)
                        return error_set(
                                error, -ENOTSUP,
                                "spark.yarn.unmanagedAM.enabled is true, but with Kerberos the ResourceManager "
                                "gives the token of an unmanaged ApplicationMaster only to proxy users: set it "
                                "to false, or use --proxy-user");
                hadoop_credentials_write(&c->credentials, &tokens);
                submission.tokens = &tokens;
                return application_client_submit(&m->app, &submission, error);
        }
        am_launch_fill(&c->launch,
                       &(struct executor_launch_options){.conf = m->sc->conf,
                                                         .user = c->user,
                                                         .staging_dir = c->staging_dir,
                                                         .resources = &c->resources,
                                                         .credentials = &c->credentials},
                       strchr(driver_url, '@') + 1);
        submission.am = &c->launch.message;
        return application_client_submit(&m->app, &submission, error);
}

static int yarn_create_secret(struct yarn_manager *m, struct fst_error *error);

/* The pages are shown through YARN's proxy. In client mode the ApplicationMaster registers their address. */
static int yarn_announce_pages(struct yarn_manager *m, struct fst_error *error)
{
        const char *address = driver_ui_address(m->sc->ui);
        if (!address)
                return 0;
        if (!m->inside)
                conf_set(m->sc->conf, "spark.driver.appUIAddress", address);
        return am_proxy_filter_set(m->sc->conf, &m->containers.yarn_conf, m->containers.app_id, error);
}

/* The container says which application this is, and its credentials hold the token. */
static int yarn_announce_inside(struct yarn_manager *m, const char *driver_url, char **app_id, struct fst_error *error)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials own = {0};
        const char *tokens = getenv("HADOOP_TOKEN_FILE_LOCATION"), *container = getenv("CONTAINER_ID");
        struct yarn_container_id id;
        int r = !tokens || !container
                        ? error_set(error, -EINVAL, "CONTAINER_ID and HADOOP_TOKEN_FILE_LOCATION are not set")
                        : yarn_container_parse(container, &id, error);
        r = r < 0 ? r : hadoop_credentials_load(&own, tokens, error);
        r = r < 0 ? r : yarn_conf_load(&m->containers.yarn_conf, &m->sc->conf->set, yarn_variable, error);
        r = r < 0 ? r : local_resources_read(&m->containers.resources, m->sc->conf, error);
        if (r == 0 && !local_resources_find(&m->containers.resources, YARN_PROGRAM_LINK))
                r = error_set(error, -ENOENT,
                              "spark.yarn.cache.filenames names no file " YARN_PROGRAM_LINK
                              ": submit the application with Firesteel's spark-submit");
        if (r < 0)
                return r;
        const struct hadoop_token *token = hadoop_credentials_find(&own, "YARN_AM_RM_TOKEN", NULL);
        if (!token)
                return error_set(error, -EACCES, "%s holds no token for the ResourceManager", tokens);
        hadoop_token_copy(token, &m->app.token);
        executor_containers_add_tokens(&m->containers, &own);
        m->app.id = id.application;
        m->attempt = id.attempt;
        m->sc->attempt_id = mem_printf("%d", id.attempt);
        yarn_name_application(m, driver_url);
        if ((r = yarn_announce_pages(m, error)))
                return r;
        *app_id = mem_strdup(m->containers.app_id);
        return 0;
}

static int yarn_announce(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                         char **app_id, struct fst_error *error)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        m->backend = backend;
        if (m->inside)
                return yarn_announce_inside(m, driver_url, app_id, error);
        int r = yarn_connect(m, error);
        r = r < 0 ? r : yarn_settings_read(&m->settings, m->sc->conf, error);
        r = r < 0 ? r : application_client_create(&m->app, &m->settings, error);
        if (r < 0)
                return r;
        yarn_name_application(m, driver_url);
        r = yarn_announce_pages(m, error);
        r = r < 0 ? r : yarn_ship_program(m, error);
        r = r < 0 ? r : yarn_create_secret(m, error);
        r = r < 0 ? r : yarn_submit(m, driver_url, error);
        if (r < 0)
                return r;
        m->submitted = true;
        *app_id = mem_strdup(m->containers.app_id);
        return 0;
}

/* ---------------------------------------------------------------------------------------- what becomes of executors */

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

static void yarn_on_finished(void *owner)
{
        struct yarn_manager *m = owner;
        m->finished = true;
}

/* ------------------------------------------------------------------------------------------ the application's state */

/* YARN has ended the application, or it cannot go on. */
static void yarn_give_up(struct yarn_manager *m, const char *why)
{
        if (m->finishing)
                return;
        log_error(LOG, "%s", why);
        cluster_backend_abort(m->backend, why);
}

/* In client mode the driver goes on, without executors, unless the user wants it to end. */
static void yarn_exit_on_error(const struct yarn_manager *m, enum yarn_final_status status)
{
        if (!m->exit_on_error || (status != YARN_FINAL_FAILED && status != YARN_FINAL_KILLED) || m->finishing)
                return;
        log_warn(LOG, "ApplicationMaster finished with status %s, SparkContext should exit with code 1.",
                 yarn_final_status_name((int)status));
        exit_hooks_exit(1);
}

static void yarn_on_report(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_manager *m = owner;
        const Firesteel__Yarn__GetApplicationReportResponse *answer =
                (Firesteel__Yarn__GetApplicationReportResponse *)result->answer;
        const Firesteel__Yarn__ApplicationReport *report = result->status == 0 ? answer->report : NULL;
        m->reporting = false;
        if (report && !m->am_is_running) {
                application_monitor_log(&m->reports, m->app.text, report);
                m->am_is_running = report->state == YARN_RUNNING;
        }
        if (report && report->state >= YARN_FINISHED && !m->finished) {
                _cleanup_free_ char *why =
                        mem_printf("YARN application has exited unexpectedly with state %s! Check the YARN application "
                                   "logs for more details.%s%s",
                                   yarn_application_state_name(report->state),
                                   report->diagnostics && *report->diagnostics ? " " : "",
                                   report->diagnostics ? report->diagnostics : "");
                m->finished = true;
                yarn_give_up(m, why);
                yarn_exit_on_error(m, (enum yarn_final_status)report->final_status);
        } else if (m->unmanaged && m->failed) {
                _cleanup_free_ char *why = mem_printf("Application has been killed. Reason: %s", m->failure);
                yarn_executors_finish(m->containers.executors, YARN_FINAL_FAILED, m->failure);
                yarn_give_up(m, why);
                yarn_exit_on_error(m, YARN_FINAL_FAILED);
        }
        protobuf_c_message_free_unpacked(result->answer, NULL);
}

static void yarn_ask_report(struct yarn_manager *m)
{
        Firesteel__Yarn__GetApplicationReportRequest request = FIRESTEEL__YARN__GET_APPLICATION_REPORT_REQUEST__INIT;
        Firesteel__Yarn__ApplicationId id = FIRESTEEL__YARN__APPLICATION_ID__INIT;
        if (m->reporting)
                return;
        m->reporting = true;
        id.has_id = id.has_cluster_timestamp = true;
        id.id = m->app.id.id;
        id.cluster_timestamp = m->app.id.cluster_timestamp;
        request.application_id = &id;
        const struct hadoop_rpc_call call = {.method = "getApplicationReport",
                                             .answer = &firesteel__yarn__get_application_report_response__descriptor,
                                             .done = yarn_on_report,
                                             .owner = m};
        hadoop_rpc_client_call(m->app.rm, &call, &request.base);
}

static void yarn_on_monitor(uv_timer_t *timer)
{
        yarn_ask_report(timer->data);
}

/*
 * The report says more if YARN has ended the application. In cluster mode the process ends, whatever the driver does:
 * Spark interrupts the thread of the application, and exits when it has ended.
 */
static void yarn_on_failed(void *owner, int exit_code, const char *message)
{
        struct yarn_manager *m = owner;
        if (m->inside && __atomic_load_n(&ignores_failures, __ATOMIC_ACQUIRE))
                return;
        free(m->failure);
        m->failed = true;
        m->failure = mem_strdup(message);
        if (m->inside) {
                outcome.failure = mem_strdup(message);
                __atomic_store_n(&outcome.exit_code, exit_code, __ATOMIC_RELEASE);
                exit_hooks_exit(exit_code);
                yarn_give_up(m, message);
        } else {
                yarn_ask_report(m);
        }
}

/* With attempts left, YARN starts another ApplicationMaster, which connects, too. */
static void yarn_on_am_lost(void *owner, const char *why)
{
        struct yarn_manager *m = owner;
        if (m->finishing) {
                m->finished = true;
                return;
        }
        log_warn(LOG, "The connection to the ApplicationMaster is lost: %s", why);
        yarn_ask_report(m);
}

static void yarn_on_am_replaced(void *owner)
{
        struct yarn_manager *m = owner;
        string_list_deinit(&m->executors);
        m->executors = (struct string_list){0};
        cluster_backend_manager_restarted(m->backend);
}

/* The next attempt of the ApplicationMaster is the next driver. */
static void yarn_on_launching(void *owner, int32_t executor)
{
        const struct yarn_manager *m = owner;
        cluster_backend_reserve_executor_ids(m->backend, executor + 1);
}

static const struct executor_containers_ops yarn_containers_ops = {.launching = yarn_on_launching,
                                                                   .exited = yarn_on_exited,
                                                                   .decommission = yarn_on_decommission,
                                                                   .failed = yarn_on_failed,
                                                                   .finished = yarn_on_finished};
static const struct am_link_ops yarn_link_ops = {
        .executors = {.exited = yarn_on_exited, .decommission = yarn_on_decommission, .failed = yarn_on_failed},
        .lost = yarn_on_am_lost,
        .replaced = yarn_on_am_replaced};

/* ------------------------------------------------------------------------------------------------------ starting it */

static bool yarn_request_executors(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        for (int i = 0; i < n; i++) {
                const struct executor_request *from = &requests[i];
                if (!m->link && !m->containers.executors) {
                        m->target = from->profile == 0 ? from->target : m->target;
                        continue;
                }
                struct yarn_host_tasks *hosts = new_array(struct yarn_host_tasks, (size_t)from->n_hosts + 1);
                for (int k = 0; k < from->n_hosts; k++)
                        hosts[k] = (struct yarn_host_tasks){.host = from->hosts[k].host, .tasks = from->hosts[k].tasks};
                _cleanup_(strmap_deinit) struct strmap settings = STRMAP_INIT;
                const struct fst_resource_profile *p = from->profile && m->sc->profiles
                                                               ? resource_profiles_find(m->sc->profiles, from->profile)
                                                               : NULL;
                if (p)
                        resource_profile_apply(p, &settings);
                const struct yarn_target target = {.profile = from->profile,
                                                   .settings = p ? &settings : NULL,
                                                   .total = from->target,
                                                   .locality_tasks = from->local_tasks,
                                                   .hosts = hosts,
                                                   .n_hosts = (size_t)from->n_hosts};
                if (m->link)
                        am_link_request(m->link, &target);
                else
                        executor_containers_request(&m->containers, &target);
                free(hosts);
        }
        return true;
}

/* Without a topology all hosts are in one rack, which tells tasks nothing. */
static const char *yarn_rack(struct executor_manager *manager, const char *host)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        if (!m->has_racks)
                rack_resolver_init(&m->racks, &m->containers.yarn_conf);
        m->has_racks = true;
        return rack_resolver_has_topology(&m->racks) ? rack_resolver_find(&m->racks, host) : NULL;
}

static void yarn_set_excluded_hosts(struct executor_manager *manager, const char *const *hosts, size_t n)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        if (m->link)
                am_link_exclude(m->link, hosts, n);
        else if (m->containers.executors)
                yarn_executors_set_excluded(m->containers.executors, hosts, n);
}

static int yarn_start_link(struct yarn_manager *m, struct fst_error *error)
{
        uv_loop_t *loop = cluster_backend_loop(m->backend);
        const int r = am_link_new(cluster_backend_rpc(m->backend), &m->containers, &yarn_link_ops, m, &m->link, error);
        if (r < 0)
                return r;
        am_link_saw(m->link, m->last_executor);
        m->monitor = new0(uv_timer_t);
        uv_timer_init(loop, m->monitor);
        m->monitor->data = m;
        const uint64_t interval = (uint64_t)MAX(m->settings.report_interval_ms, (int64_t)1);
        m->reports.frequency = m->settings.report_frequency;
        uv_timer_start(m->monitor, yarn_on_monitor, interval, interval);
        return 0;
}

/* New delegation tokens: for executors, for containers that start later, and for this process. */
static void yarn_on_tokens(void *owner, const void *stream, size_t len)
{
        struct yarn_manager *m = owner;
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials fresh = {0};
        if (hadoop_credentials_read(&fresh, stream, len, NULL) == 0)
                executor_containers_add_tokens(&m->containers, &fresh);
        if (m->link)
                am_link_update_tokens(m->link, stream, len);
        cluster_backend_update_tokens(m->backend, stream, len);
}

static int yarn_start_renewer(struct yarn_manager *m, struct fst_error *error)
{
        const struct yarn_conf *conf = &m->containers.yarn_conf;
        bool wanted;
        const int r = token_renewer_wanted(m->sc->conf, conf, &wanted, error);
        return r < 0 || !wanted ? r
                                : token_renewer_new(cluster_backend_loop(m->backend), m->sc->conf, conf, yarn_on_tokens,
                                                    m, &m->renewer, error);
}

/* An executor of an earlier attempt of this application, in a container that YARN may have kept. */
static bool yarn_may_keep(const struct yarn_manager *m, const struct earlier_executor *x, struct yarn_kept *out)
{
        struct yarn_container_id container;
        if (!m->inside || yarn_container_parse(x->container, &container, NULL) < 0 ||
            container.application.id != m->app.id.id ||
            container.application.cluster_timestamp != m->app.id.cluster_timestamp || yarn_executor_number(x->id) < 0)
                return false;
        *out = (struct yarn_kept){.container = container,
                                  .executor = yarn_executor_number(x->id),
                                  .profile = x->profile,
                                  .host = mem_strdup(x->host)};
        return true;
}

/* The ResourceManager's answer to the registration tells which of them run. In client mode each driver has another
 * application. */
static void yarn_adopt(struct executor_manager *manager, struct cluster_backend *backend,
                       const struct earlier_executor *executors, int n, int next_id)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        struct yarn_kept kept;
        m->last_executor = next_id - 1;
        for (int i = 0; i < n; i++)
                if (yarn_may_keep(m, &executors[i], &kept))
                        vec_push(&m->kept, kept);
                else
                        cluster_backend_executor_exited(backend, executors[i].id, false,
                                                        "It has ended with its driver");
}

static void yarn_forget_kept(struct yarn_manager *m)
{
        for (size_t i = 0; i < m->kept.len; i++)
                free((char *)m->kept.data[i].host);
        vec_deinit(&m->kept);
}

/* This process is the ApplicationMaster. */
static int yarn_start_containers(struct yarn_manager *m, struct fst_error *error)
{
        const struct executor_containers_start start = {.token = &m->app.token,
                                                        .host = m->sc->host,
                                                        .tracking_url = driver_ui_address(m->sc->ui),
                                                        .last_executor = m->last_executor,
                                                        .attempt = m->attempt,
                                                        .kept = m->kept.data,
                                                        .n_kept = m->kept.len};
        int r = m->inside ? executor_containers_add_secret(&m->containers, error) : 0;
        r = r < 0 ? r
                  : executor_containers_start(&m->containers, cluster_backend_loop(m->backend), &start,
                                              &yarn_containers_ops, m, error);
        yarn_forget_kept(m);
        return r;
}

static int yarn_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                      struct fst_error *error)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        const struct executor_request request = {.target = m->target >= 0 ? m->target
                                                                          : m->containers.settings.initial_executors};
        int r = m->unmanaged ? yarn_start_containers(m, error) : yarn_start_link(m, error);
        if (r == 0)
                yarn_request_executors(manager, &request, 1);
        r = r < 0 ? r : yarn_start_renewer(m, error);
        if (r == 0)
                __atomic_store_n(&outcome.started, true, __ATOMIC_RELEASE);
        return r;
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

/* In client mode the ApplicationMaster gets it when the application is submitted, before the backend asks for one. */
static int yarn_create_secret(struct yarn_manager *m, struct fst_error *error)
{
        static const char *const given[] = {SECRET, SECRET ".file", SECRET ".driver.file"};
        const struct fst_conf *conf = m->sc->conf;
        bool wanted, has = getenv("_SPARK_AUTH_SECRET") != NULL;
        int r = conf_get_bool(conf, "spark.authenticate", &wanted, error);
        for (size_t i = 0; i < ARRAY_SIZE(given); i++)
                has = has || conf_contains(conf, given[i]);
        if (r == 0 && wanted && !has)
                r = yarn_make_secret(&m->manager, error);
        return r < 0 ? r : executor_containers_add_secret(&m->containers, error);
}

/* ---------------------------------------------------------------------------------------------------- while it runs */

static bool yarn_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct yarn_manager *m = container_of(manager, const struct yarn_manager, manager);
        const int32_t id = yarn_executor_number(executor_id);
        return id < 0 || (m->unmanaged && id > m->containers.last_executor);
}

static void yarn_registered(struct executor_manager *manager, const char *executor_id)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        string_list_add(&m->executors, executor_id);
        if (m->link)
                am_link_saw(m->link, yarn_executor_number(executor_id));
}

static void yarn_forgotten(struct executor_manager *manager, const char *executor_id)
{
        struct string_list *list = &yarn_manager_of(manager)->executors;
        for (size_t i = list->len; i-- > 0;) {
                if (strcmp(list->data[i], executor_id) != 0)
                        continue;
                free(list->data[i]);
                list->data[i] = list->data[--list->len];
        }
}

static void yarn_kill(struct executor_manager *manager, const char *executor_id)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        const int32_t id = yarn_executor_number(executor_id);
        cluster_backend_send_stop(m->backend, executor_id);
        if (id > 0 && m->link)
                am_link_kill(m->link, id);
        else if (id > 0 && m->containers.executors)
                yarn_executors_kill(m->containers.executors, id);
}

static int64_t yarn_expected_cores(const struct executor_manager *manager, double *ratio)
{
        const struct yarn_manager *m = container_of(manager, const struct yarn_manager, manager);
        *ratio = 0.8; /* Spark's default for YARN */
        return (int64_t)(m->target >= 0 ? m->target : m->containers.settings.initial_executors) *
               m->containers.size.cores;
}

/* -------------------------------------------------------------------------------------------------------- ending it */

/* An application whose ApplicationMaster cannot unregister it. */
static void yarn_kill_application(struct yarn_manager *m)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        bool killed;
        hadoop_rpc_client_limit_wait(m->app.rm, UNREGISTER_MS);
        if (yarn_rm_kill(m->app.rm, m->app.id, "the driver has ended", &killed, &error) < 0)
                log_warn(LOG, "%s cannot be killed: %s. \"yarn application -kill %s\" ends it", m->containers.app_id,
                         error_message(&error), m->containers.app_id);
        m->finished = true;
}

static void yarn_begin_finish(struct yarn_manager *m)
{
        if (m->finishing || m->finished)
                return;
        m->finishing = true;
        if (m->link && am_link_is_connected(m->link)) {
                am_link_finish(m->link, YARN_FINAL_SUCCEEDED, "");
        } else if (m->containers.executors) {
                log_info("ApplicationMaster", "Unregistering ApplicationMaster with SUCCEEDED");
                if (!m->failed)
                        yarn_executors_finish(m->containers.executors, YARN_FINAL_SUCCEEDED, NULL);
        } else {
                yarn_kill_application(m);
        }
}

static bool yarn_is_finished(void *owner)
{
        const struct yarn_manager *m = owner;
        return m->finished;
}

/* YARN ends the containers that are left when the application is unregistered. */
static void yarn_leave(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        if (!m->submitted)
                return;
        yarn_begin_finish(m);
        if (!loop_wait(cluster_backend_loop(m->backend), yarn_is_finished, m, UNREGISTER_MS))
                log_warn(LOG, "The end of %s was not confirmed in time", m->containers.app_id);
        m->submitted = false;
}

static bool yarn_stopped(struct executor_manager *manager)
{
        return true; /* the executors were told to stop; `stop` ends what is left */
}

static void yarn_on_monitor_closed(uv_handle_t *handle)
{
        free(handle);
}

static void yarn_stop(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        yarn_leave(manager);
        if (m->monitor)
                uv_close((uv_handle_t *)steal(m->monitor), yarn_on_monitor_closed);
        token_renewer_close(steal(m->renewer));
        am_link_close(m->link);
        executor_containers_stop(&m->containers);
        hadoop_rpc_client_free(steal(m->app.rm));
}

static void yarn_free(struct executor_manager *manager)
{
        struct yarn_manager *m = yarn_manager_of(manager);
        am_link_free(m->link);
        executor_containers_deinit(&m->containers);
        application_client_deinit(&m->app);
        yarn_settings_deinit(&m->settings);
        rack_resolver_deinit(&m->racks);
        string_list_deinit(&m->executors);
        yarn_forget_kept(m);
        free(m->failure);
        free(m);
}

static const struct executor_manager_class yarn_class = {
        .name = "yarn",
        .make_secret = yarn_make_secret,
        .announce = yarn_announce,
        .start = yarn_start,
        .adopt = yarn_adopt,
        .refuses = yarn_refuses,
        .registered = yarn_registered,
        .forgotten = yarn_forgotten,
        .request_executors = yarn_request_executors,
        .set_excluded_hosts = yarn_set_excluded_hosts,
        .rack = yarn_rack,
        .kill = yarn_kill,
        .expected_cores = yarn_expected_cores,
        .stopped = yarn_stopped,
        .leave = yarn_leave,
        .stop = yarn_stop,
        .free = yarn_free,
};

int yarn_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct yarn_manager *m = new0(struct yarn_manager);
        m->manager.class = &yarn_class;
        m->sc = sc;
        m->target = -1;
        m->attempt = 1; /* an ApplicationMaster without a container has no other */
        const char *mode = conf_get_raw(sc->conf, "spark.submit.deployMode");
        int r = conf_get_bool(sc->conf, "spark.yarn.unmanagedAM.enabled", &m->unmanaged, error);
        r = r < 0 ? r : conf_get_bool(sc->conf, "spark.yarn.am.clientModeExitOnError", &m->exit_on_error, error);
        m->inside = mode && strcmp(mode, "cluster") == 0;
        m->unmanaged = m->unmanaged || m->inside;
        r = r < 0 ? r : executor_containers_init(&m->containers, sc->conf, error);
        if (r < 0)
                yarn_free(&m->manager);
        else
                *out = &m->manager;
        return r;
}
