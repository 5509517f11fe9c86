/* The manager of a standalone application. The master decides where executors run, and replaces lost ones. The
 * application requests their number, names executors to remove, and reports its end.
 *
 * Two sources report the end of an executor: its connection with the driver closes at once, and a moment later its
 * worker tells the master the reason. The cluster backend waits for the reason (LOSS_REASON_MS), as Spark's backend
 * does.
 */
#include "standalone/client/standalone_manager.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "process/loop_wait.h"
#include "standalone/client/app_client.h"
#include "standalone/wire/executor_exit_reason.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "driver/events/driver_ui.h"
#include "driver/resume/resume.h"
#include "driver/resources/resource_profiles.h"
#include "exec/executor.h"
#include "exec/app/module.h"
#include "exec/resource_discovery.h"
#include "sched/allocation/executor_allocation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG "StandaloneSchedulerBackend"
#define MAX_MODULES 64
#define ENDING_TIMEOUT_MS 1000 /* for the master's answer that it starts no more executors */
#define RESOURCE_PREFIX "spark.executor.resource."
#define ENVIRONMENT_PREFIX "spark.executorEnv."

typedef VEC(Firesteel__Standalone__Property *) properties;

struct executor_command {
        Firesteel__Standalone__Command message;
        struct string_list arguments, class_path, library_path;
        properties environment, settings;
};

struct standalone_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        char *masters;
        struct cluster_backend *backend;
        struct app_client *client;
        int64_t cores_each, memory_mib, max_cores; /* 0: not set */
        VEC(Firesteel__Standalone__ResourceNeed *) needs;
        struct executor_command command; /* starts executors */
        struct fst_error *announcing;    /* until the application has its id or registration failed */
        int announced;                   /* 1 if it has an id, negative if it failed */
        int n_profiles;                  /* resource profiles of which executors were requested; numbered from 0 */
        bool client_stopped;
        int failures, most_failures; /* failures: consecutive executors that ended before they registered */
};

static struct standalone_manager *manager_of(struct executor_manager *manager)
{
        return container_of(manager, struct standalone_manager, manager);
}

/* ------------------------------------------------------------------------------------ requests of the application */

static void push_need(struct standalone_manager *m, char *name, int64_t amount)
{
        Firesteel__Standalone__ResourceNeed *need = mem_alloc(sizeof(*need));
        firesteel__standalone__resource_need__init(need);
        need->name = name;
        need->amount = (int32_t)amount;
        vec_push(&m->needs, need);
}

static int read_needs(struct standalone_manager *m, struct fst_error *error)
{
        const struct fst_conf *conf = m->sc->conf;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                const size_t before = strlen(RESOURCE_PREFIX), after = strlen(".amount"), n = strlen(e->key);
                if (n <= before + after || !text_starts_with(e->key, RESOURCE_PREFIX) ||
                    !text_ends_with(e->key, ".amount"))
                        continue;
                char *name = mem_strndup(e->key + before, n - before - after);
                int64_t amount = resource_amount(conf, RESOURCE_PREFIX, name, error);
                if (amount < 0) {
                        free(name);
                        return (int)amount;
                }
                if (amount == 0)
                        free(name);
                else
                        push_need(m, name, amount);
        }
        return 0;
}

static int read_positive(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        *out = 0;
        int r = conf_contains(conf, key) ? conf_get_int(conf, key, out, error) : 0;
        if (r == 0 && conf_contains(conf, key) && (*out < 1 || *out > INT32_MAX))
                return error_set(error, -EINVAL, "%s is %lld, but must be at least 1", key, (long long)*out);
        return r;
}

static int read_sizes(struct standalone_manager *m, struct fst_error *error)
{
        const struct fst_conf *conf = m->sc->conf;
        int64_t memory, retries;
        int r;
        if ((r = conf_get_int(conf, "spark.deploy.maxExecutorRetries", &retries, error)) ||
            (r = read_positive(conf, "spark.cores.max", &m->max_cores, error)) ||
            (r = read_positive(conf, "spark.executor.cores", &m->cores_each, error)) ||
            (r = conf_get_bytes(conf, "spark.executor.memory", &memory, error)) || (r = read_needs(m, error)))
                return r;
        m->memory_mib = MAX(memory >> 20, (int64_t)1);
        m->most_failures = retries < 0 || retries > INT_MAX ? INT_MAX : (int)retries;
        if (m->max_cores && m->cores_each > m->max_cores)
                return error_set(error, -EINVAL,
                                 "spark.executor.cores (%lld) is more than spark.cores.max (%lld): no executor could "
                                 "ever be started",
                                 (long long)m->cores_each, (long long)m->max_cores);
        return 0;
}

/* ------------------------------------------------------------------------------------------- the executors' command */

static void push_property(properties *list, const char *key, const char *value)
{
        Firesteel__Standalone__Property *p = mem_alloc(sizeof(*p));
        firesteel__standalone__property__init(p);
        p->key = mem_strdup(key);
        p->value = mem_strdup(value);
        vec_push(list, p);
}

static void free_properties(properties *list)
{
        for (size_t i = 0; i < list->len; i++) {
                free(list->data[i]->key);
                free(list->data[i]->value);
                free(list->data[i]);
        }
        vec_deinit(list);
}

static void command_deinit(struct executor_command *c)
{
        string_list_deinit(&c->arguments);
        string_list_deinit(&c->class_path);
        string_list_deinit(&c->library_path);
        free_properties(&c->environment);
        free_properties(&c->settings);
}

static void push_list(struct string_list *list, const char *separated)
{
        for (const char *at = separated; at && *at; at += strspn(at, ":")) {
                size_t n = strcspn(at, ":");
                string_list_take(list, mem_strndup(at, n));
                at += n;
        }
}

/* Passes the driver's loaded modules to executors. Those that find the files at the same paths load them before they
 * register.
 */
static void push_modules(struct string_list *class_path)
{
        const struct module *modules[MAX_MODULES];
        size_t n = MIN(module_list(modules, MAX_MODULES), (size_t)MAX_MODULES);
        for (size_t i = 0; i < n; i++)
                string_list_add(class_path, modules[i]->path);
}

static void push_settings(struct executor_command *c, const struct fst_context *sc)
{
        push_property(&c->environment, "SPARK_USER", sc->user);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&sc->conf->set, e));) {
                if (text_starts_with(e->key, ENVIRONMENT_PREFIX))
                        push_property(&c->environment, e->key + strlen(ENVIRONMENT_PREFIX), e->value);
                if (executor_startup_key(e->key))
                        push_property(&c->settings, e->key, e->value);
        }
}

static void command_init(struct executor_command *c, const struct fst_context *sc, const char *driver_url)
{
        const char *const words[] = {
                "--driver-url",
                driver_url,
                "--executor-id",
                "{{EXECUTOR_ID}}",
                "--hostname",
                "{{HOSTNAME}}",
                "--cores",
                "{{CORES}}",
                "--app-id",
                "{{APP_ID}}",
                "--worker-url",
                "{{WORKER_URL}}",
                "--resourceProfileId",
                "{{RESOURCE_PROFILE_ID}}",
        };
        *c = (struct executor_command){0};
        firesteel__standalone__command__init(&c->message);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                string_list_add(&c->arguments, words[i]);
        push_modules(&c->class_path);
        push_list(&c->library_path, conf_get_raw(sc->conf, "spark.executor.extraLibraryPath"));
        push_settings(c, sc);
        c->message.main_class = (char *)STANDALONE_EXECUTOR_CLASS;
        c->message.arguments = c->arguments.data;
        c->message.n_arguments = c->arguments.len;
        c->message.class_path = c->class_path.data;
        c->message.n_class_path = c->class_path.len;
        c->message.library_path = c->library_path.data;
        c->message.n_library_path = c->library_path.len;
        c->message.environment = c->environment.data;
        c->message.n_environment = c->environment.len;
        c->message.properties = c->settings.data;
        c->message.n_properties = c->settings.len;
}

static Firesteel__Standalone__ExecutorProfile default_profile(struct standalone_manager *m)
{
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        profile.cores = (int32_t)m->cores_each;
        profile.memory = m->memory_mib;
        profile.needs = m->needs.data;
        profile.n_needs = m->needs.len;
        profile.command = &m->command.message;
        return profile;
}

/* Needs of the custom resources of a profile. Its names are borrowed from @p. */
static Firesteel__Standalone__ResourceNeed **profile_needs(const struct fst_resource_profile *p, size_t *n)
{
        Firesteel__Standalone__ResourceNeed **list =
                new_array(Firesteel__Standalone__ResourceNeed *, (size_t)p->n_executor + 1);
        *n = 0;
        for (int i = 0; i < p->n_executor; i++) {
                if (!resource_profile_is_custom(p->executor[i].name))
                        continue;
                Firesteel__Standalone__ResourceNeed *need = mem_alloc(sizeof(*need));
                firesteel__standalone__resource_need__init(need);
                need->name = (char *)p->executor[i].name;
                need->amount = (int32_t)p->executor[i].amount;
                list[(*n)++] = need;
        }
        return list;
}

/* Amounts that a profile does not name are those of the default one, without its custom resources. */
static Firesteel__Standalone__ExecutorProfile executor_profile_of(struct standalone_manager *m, int id)
{
        const struct fst_resource_profile *p =
                id && m->sc->profiles ? resource_profiles_find(m->sc->profiles, id) : NULL;
        Firesteel__Standalone__ExecutorProfile profile = default_profile(m);
        profile.id = id;
        if (!p)
                return profile;
        profile.cores = (int32_t)resource_profile_amount(p, PROFILE_CORES, m->cores_each);
        profile.memory = resource_profile_amount(p, PROFILE_MEMORY, m->memory_mib);
        profile.needs = profile_needs(p, &profile.n_needs);
        return profile;
}

static void executor_profile_release(struct standalone_manager *m, Firesteel__Standalone__ExecutorProfile *profile)
{
        if (profile->needs == m->needs.data)
                return;
        for (size_t i = 0; i < profile->n_needs; i++)
                free(profile->needs[i]);
        free(profile->needs);
}

/* ------------------------------------------------------------------------------------------- events from masters */

static void on_registered(void *owner, const char *app_id)
{
        struct standalone_manager *m = owner;
        log_info(LOG, "Connected to Spark cluster with app ID %s", app_id);
        m->announced = 1;
}

static void on_executor_added(void *owner, const Firesteel__Standalone__ExecutorAdded *x)
{
        const struct standalone_manager *m = owner;
        log_info(LOG, "Granted executor ID %s/%d on hostPort %s with %d core(s), %lld.0 MiB RAM",
                 app_client_id(m->client), x->executor, x->host_port, x->cores, (long long)x->memory);
}

static bool is_finished(const char *state)
{
        static const char *const finished[] = {"KILLED", "FAILED", "LOST", "EXITED"};
        for (size_t i = 0; i < ARRAY_SIZE(finished); i++)
                if (strcmp(finished[i], state) == 0)
                        return true;
        return false;
}

static void standalone_request(struct standalone_manager *m, const struct executor_request *requests, int n)
{
        Firesteel__Standalone__ExecutorTarget *targets = new_array(Firesteel__Standalone__ExecutorTarget, (size_t)n);
        Firesteel__Standalone__ExecutorProfile *profiles = new_array(Firesteel__Standalone__ExecutorProfile, (size_t)n);
        Firesteel__Standalone__ExecutorTarget **list = new_array(Firesteel__Standalone__ExecutorTarget *, (size_t)n);
        for (int i = 0; i < n; i++) {
                profiles[i] = executor_profile_of(m, requests[i].profile);
                firesteel__standalone__executor_target__init(&targets[i]);
                targets[i].profile = &profiles[i];
                targets[i].executors = requests[i].target;
                list[i] = &targets[i];
                m->n_profiles = MAX(m->n_profiles, requests[i].profile + 1);
        }
        app_client_request(m->client, list, (size_t)n);
        for (int i = 0; i < n; i++)
                executor_profile_release(m, &profiles[i]);
        free(list);
        free(profiles);
        free(targets);
}

static void request_no_executors(struct standalone_manager *m)
{
        int n = MAX(m->n_profiles, 1);
        _cleanup_free_ struct executor_request *none = new_array(struct executor_request, (size_t)n);
        for (int i = 0; i < n; i++)
                none[i].profile = i;
        standalone_request(m, none, n);
}

/* A master counts executors that could not be started, but not those that end at once, and would start new ones for
 * ever. Fail when no executor is left and new ones keep failing, as local-cluster does.
 */
static void count_failure(struct standalone_manager *m, const char *reason)
{
        if (++m->failures < m->most_failures || __atomic_load_n(&m->sc->registered_cores, __ATOMIC_RELAXED) > 0)
                return;
        _cleanup_free_ char *why = mem_printf(
                "no executor can be kept running: %d have ended in a row; the last one: %s", m->failures, reason);
        log_error(LOG, "Application has been killed. Reason: %s", why);
        request_no_executors(m);
        cluster_backend_abort(m->backend, why);
}

static void on_executor_updated(void *owner, const Firesteel__Standalone__ExecutorUpdated *x)
{
        struct standalone_manager *m = owner;
        const int exit_status = x->exit_status, *status = x->has_exit_status ? &exit_status : NULL;
        bool with_worker = *x->worker_host != '\0';
        char id[16];
        snprintf(id, sizeof(id), "%d", x->executor);
        if (is_finished(x->state)) {
                _cleanup_free_ char *reason = executor_exit_reason(x->message, status);
                bool killed = strcmp(x->state, "KILLED") == 0;
                log_info(LOG, "Executor %s/%d removed: %s", app_client_id(m->client), x->executor, reason);
                cluster_backend_executor_exited(m->backend, id, !killed && executor_exit_by_app(status, with_worker),
                                                reason);
                if (status && !killed && !m->announcing)
                        count_failure(m, reason);
        } else if (strcmp(x->state, "DECOMMISSIONED") == 0) {
                log_info(LOG, "Asked to decommission executor %s/%d", app_client_id(m->client), x->executor);
                cluster_backend_executor_decommissioned(m->backend, id, with_worker, x->message);
        }
}

/* Its executors were reported one by one before. */
static void on_worker_removed(void *owner, const Firesteel__Standalone__WorkerRemoved *w)
{
        const struct standalone_manager *m = owner;
        log_info(LOG, "Worker %s removed: %s", w->worker_id, w->message);
        cluster_backend_worker_removed(m->backend, w->worker_id, w->host, w->message);
}

static void on_executor_killed(void *owner, int executor)
{
        struct standalone_manager *m = owner;
        char id[16];
        snprintf(id, sizeof(id), "%d", executor);
        cluster_backend_executor_exited(m->backend, id, false, "Executor killed by driver.");
}

static void on_misfit(void *owner, const char *message)
{
        log_warn(LOG, "%s", message);
}

static void on_disconnected(void *owner)
{
        log_warn(LOG, "Disconnected from Spark cluster! Waiting for reconnection...");
}

static void on_dead(void *owner, const char *reason, const char *remedy)
{
        struct standalone_manager *m = owner;
        _cleanup_free_ char *message = remedy ? mem_printf("%s %s", reason, remedy) : mem_strdup(reason);
        log_error(LOG, "Application has been killed. Reason: %s", reason);
        if (m->announcing)
                m->announced =
                        error_set(m->announcing, -ENOTCONN, "Exiting due to error from cluster scheduler: %s", message);
        else
                cluster_backend_abort(m->backend, message);
}

static const struct app_client_ops client_ops = {
        .registered = on_registered,
        .executor_added = on_executor_added,
        .executor_updated = on_executor_updated,
        .worker_removed = on_worker_removed,
        .executor_killed = on_executor_killed,
        .executors_do_not_fit = on_misfit,
        .disconnected = on_disconnected,
        .dead = on_dead,
};

/* ------------------------------------------------------------------------------------------------ the manager */

static int register_application(struct standalone_manager *m, const char *driver_url, struct fst_error *error)
{
        struct fst_context *sc = m->sc;
        Firesteel__Standalone__ExecutorProfile profile;
        Firesteel__Standalone__RegisterApplication application = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        struct app_client_options options = {.loop = cluster_backend_loop(m->backend),
                                             .conf = sc->conf,
                                             .masters = m->masters,
                                             .application = &application,
                                             .ops = &client_ops,
                                             .owner = m};
        struct resume_identity identity;
        bool dynamic, logged;
        int r;
        if ((r = conf_get_ms(sc->conf, "spark.firesteel.standalone.registrationTimeout", &options.timeout_ms, error)) ||
            (r = conf_get_bool(sc->conf, "spark.dynamicAllocation.enabled", &dynamic, error)) ||
            (r = conf_get_bool(sc->conf, "spark.eventLog.enabled", &logged, error)))
                return r;
        const char *events = logged ? conf_get_raw(sc->conf, "spark.eventLog.dir") : NULL;
        command_init(&m->command, sc, driver_url);
        profile = default_profile(m);
        application.name = sc->app_name;
        application.user = sc->user;
        application.ui_url = (char *)(driver_ui_address(sc->ui) ? driver_ui_address(sc->ui) : "");
        application.address = strchr(driver_url, '@') + 1;
        application.max_cores = (int32_t)m->max_cores;
        application.has_initial_executors = dynamic; /* dynamic allocation decides the number */
        application.profile = &profile;
        if (resume_identity(sc->resume, &identity)) {
                application.resume_id = (char *)(identity.earlier_id ? identity.earlier_id : "");
                application.resume_epoch = identity.epoch;
                application.resume_token = (char *)identity.token;
                application.next_executor = identity.next_executor;
                if ((r = conf_get_ms(sc->conf, "spark.firesteel.resume.executorTimeout", &application.resume_timeout,
                                     error)))
                        return r;
        }
        application.event_log_dir = (char *)(events ? events : "");
        return app_client_new(&options, &m->client, error);
}

static bool standalone_is_announced(void *owner)
{
        const struct standalone_manager *m = owner;
        return m->announced != 0;
}

static int standalone_announce(struct executor_manager *manager, struct cluster_backend *backend,
                               const char *driver_url, char **app_id, struct fst_error *error)
{
        struct standalone_manager *m = manager_of(manager);
        m->backend = backend;
        m->announcing = error;
        int r = register_application(m, driver_url, error);
        if (r)
                return r;
        loop_wait(cluster_backend_loop(backend), standalone_is_announced, m, LOOP_WAIT_FOREVER);
        m->announcing = NULL;
        if (m->announced < 0)
                return m->announced;
        *app_id = mem_strdup(app_client_id(m->client));
        return 0;
}

static int standalone_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                            struct fst_error *error)
{
        return 0; /* the registration already had these numbers */
}

/* The master has registered the application, and its answer names the executors that it keeps. */
static void standalone_adopt(struct executor_manager *manager, struct cluster_backend *backend,
                             const struct earlier_executor *executors, int n, int next_id)
{
        const struct standalone_manager *m = manager_of(manager);
        for (int i = 0; i < n; i++)
                if (!app_client_may_have(m->client, atoi(executors[i].id)))
                        cluster_backend_executor_exited(backend, executors[i].id, false,
                                                        "It has ended with its driver");
}

static void standalone_registered(struct executor_manager *manager, const char *executor_id)
{
        manager_of(manager)->failures = 0;
}

static bool standalone_request_executors(struct executor_manager *manager, const struct executor_request *requests,
                                         int n)
{
        standalone_request(manager_of(manager), requests, n);
        return true;
}

static void standalone_kill(struct executor_manager *manager, const char *executor_id)
{
        app_client_kill(manager_of(manager)->client, atoi(executor_id));
}

static int64_t standalone_expected_cores(const struct executor_manager *manager, double *ratio)
{
        return container_of(manager, const struct standalone_manager, manager)->max_cores;
}

static bool standalone_request_is_answered(void *owner)
{
        const struct standalone_manager *m = owner;
        return !app_client_is_asking(m->client);
}

/*
 * Without this request, the master would replace executors that end before it knows that the application has ended.
 * Spark has this race.
 */
static void standalone_ending(struct executor_manager *manager)
{
        struct standalone_manager *m = manager_of(manager);
        if (!m->client || m->announced <= 0)
                return;
        request_no_executors(m);
        loop_wait(cluster_backend_loop(m->backend), standalone_request_is_answered, m, ENDING_TIMEOUT_MS);
}

static bool standalone_stopped(struct executor_manager *manager)
{
        return true; /* the worker ends remaining executors when the master reports the application's end */
}

static void on_client_stopped(void *owner)
{
        struct standalone_manager *m = owner;
        m->client_stopped = true;
}

static void standalone_stop(struct executor_manager *manager)
{
        struct standalone_manager *m = manager_of(manager);
        if (!m->client)
                return;
        app_client_stop(m->client, on_client_stopped, m);
        loop_wait_for_flag(cluster_backend_loop(m->backend), &m->client_stopped);
}

static void standalone_free(struct executor_manager *manager)
{
        struct standalone_manager *m = manager_of(manager);
        app_client_free(m->client);
        for (size_t i = 0; i < m->needs.len; i++) {
                free(m->needs.data[i]->name);
                free(m->needs.data[i]);
        }
        vec_deinit(&m->needs);
        command_deinit(&m->command);
        free(m->masters);
        free(m);
}

static const struct executor_manager_class standalone_class = {
        .name = "standalone",
        .announce = standalone_announce,
        .start = standalone_start,
        .adopt = standalone_adopt,
        .registered = standalone_registered,
        .request_executors = standalone_request_executors,
        .kill = standalone_kill,
        .expected_cores = standalone_expected_cores,
        .ending = standalone_ending,
        .stopped = standalone_stopped,
        .leave = standalone_stop, /* unregisters */
        .stop = standalone_stop,
        .free = standalone_free,
};

int standalone_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct standalone_manager *m = new0(struct standalone_manager);
        m->manager.class = &standalone_class;
        m->sc = sc;
        m->masters = mem_strdup(conf_get_raw(sc->conf, "spark.master"));
        int r = read_sizes(m, error);
        if (r)
                standalone_free(&m->manager);
        else
                *out = &m->manager;
        return r;
}
