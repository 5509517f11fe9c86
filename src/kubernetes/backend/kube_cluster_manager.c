/* Runs executors in pods for k8s:// master URLs. */
#include "kubernetes/backend/kube_cluster_manager.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/backend/driver_pod.h"
#include "kubernetes/backend/pod_adoption.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/executors/executor_pods_conf.h"
#include "kubernetes/conf/generated_names.h"
#include "kubernetes/backend/min_executors_wait.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/backend/kube_executor_backend.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/conf/deprecated_keys.h"
#include "kubernetes/backend/resize_plugins.h"
#include "kubernetes/backend/roll_schedule.h"
#include "kubernetes/driver/submission_files.h"
#include "driver/backend/cluster_backend.h"
#include "driver/context.h"
#include "driver/resume/resume.h"
#include "exec/exit_hooks.h"
#include "net/security.h"
#include "process/loop_wait.h"
#include "sched/allocation/executor_allocation.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>

#define LOG "KubernetesClusterSchedulerBackend"
#define POD_NAME "spark.kubernetes.driver.pod.name"
#define PREFIX "spark.kubernetes.executor.podNamePrefix"
#define SECRET "spark.authenticate.secret"

#define SHUTDOWN_TIMEOUT_MS 30000 /* limit for deletions at the end */

struct kube_manager {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        struct fst_conf settings; /* the context's settings, with which pods are built */
        struct fresh_names names;
        struct submission_files files;
        struct kube_config server;
        struct kube_client *client;
        struct kube_conf conf; /* for executors */
        struct kube_executors *executors;
        struct gang gang;
        struct min_executors_wait *min_executors_wait; /* NULL: no gang scheduling */
        struct roll_schedule *rolls;                   /* NULL: no rolling */
        struct resize_plugins *resizes;                /* NULL: executors keep their size */
        char *app_id, *namespace;
        json_t *driver_pod;                /* NULL: the driver does not run in a pod */
        json_t *lasting_owner;             /* of executors that wait for the next driver; NULL: none */
        char *journal;                     /* label of their pods; NULL: they do not wait */
        VEC(struct expected_pod) expected; /* executors of an earlier driver */
        int32_t last_executor;             /* ids up to this one were used by earlier drivers */
        int64_t cores_each;
        int target; /* executors of the default profile set before the start; -1: not set */
};

static struct kube_manager *kube_manager_of(struct executor_manager *manager)
{
        return container_of(manager, struct kube_manager, manager);
}

/* ------------------------------------------------------------------------------------- API server and driver pod */

static int connect_server(struct kube_manager *m, uv_loop_t *loop, struct fst_error *error)
{
        const struct fst_conf *conf = m->sc->conf;
        _cleanup_free_ char *inside = NULL;
        bool in_pod;
        int r;
        if ((r = conf_get_bool(conf, "spark.kubernetes.submitInDriver", &in_pod, error)) ||
            (r = conf_get_string(conf, "spark.kubernetes.driver.master", &inside, error)))
                return r;
        if (in_pod && !conf_contains(conf, POD_NAME))
                return error_set(error, -EINVAL,
                                 "requirement failed: If the application is deployed using spark-submit in cluster "
                                 "mode, the driver pod name must be provided.");
        r = kube_config_from_conf(conf, in_pod ? KUBE_POD_DRIVER : KUBE_CLIENT_DRIVER,
                                  in_pod ? inside : conf_get_raw(conf, "spark.master"), &m->server, error);
        if (r)
                return r;
        _cleanup_free_ char *where = kube_config_describe(&m->server);
        log_info(LOG, "Executors are pods in namespace %s of %s", m->namespace, where);
        return kube_client_new(loop, &m->server, NULL, &m->client, error);
}

static int find_driver_pod(struct kube_manager *m, struct fst_error *error)
{
        const char *name = conf_get_raw(m->sc->conf, POD_NAME);
        return name ? driver_pod_fetch(m->client, m->namespace, name, &m->driver_pod, error) : 0;
}

/* ------------------------------------------------------------------------------------------- pod configuration */

/* Returns the secret that executors authenticate with, or NULL if they need none or get it otherwise. */
static int find_secret(const struct fst_conf *conf, const char **out, struct fst_error *error)
{
        bool wanted;
        int r = conf_get_bool(conf, "spark.authenticate", &wanted, error);
        *out = NULL;
        if (r || !wanted || conf_contains(conf, SECRET ".file") || conf_contains(conf, SECRET ".executor.file"))
                return r;
        *out = getenv("_SPARK_AUTH_SECRET");
        if (!*out)
                *out = conf_get_raw(conf, SECRET);
        return 0;
}

static int complete_conf(struct kube_manager *m, struct fst_error *error)
{
        strmap_merge(&m->settings.set, &m->sc->conf->set);
        older_spellings_replace(&m->settings.set);
        m->conf = (struct kube_conf){.role = KUBE_EXECUTOR,
                                     .conf = &m->settings,
                                     .env = conf_environment,
                                     .app_id = m->app_id,
                                     .resumed_app_id = m->sc->app_id,
                                     .unique = m->names.unique,
                                     .uuid = m->names.uuid,
                                     .user = m->sc->user,
                                     .files = submission_files_of(&m->files),
                                     .driver_pod = m->driver_pod,
                                     .lasting_owner = m->lasting_owner};
        int r = find_secret(&m->settings, &m->conf.secret, error);
        if (r == 0)
                r = kube_conf_complete(&m->conf, error);
        return r;
}

static int create_config_map(struct kube_manager *m, struct fst_error *error)
{
        json_t *map = NULL;
        int r = executor_config_map(&m->conf, &map, error);
        if (r || !map)
                return r;
        kube_set_executors_owner(map, &m->conf);
        struct kube_call *call = kube_create(m->client, m->namespace, map, NULL, NULL);
        kube_bear_conflicts(call);
        r = kube_wait(m->client, call, NULL, error);
        json_decref(map);
        if (r)
                r = error_wrap(error,
                               r == FST_KUBE_E_FORBIDDEN ? -EACCES
                               : r > 0                   ? -EIO
                                                         : r,
                               "the executors' configuration cannot be put into the cluster");
        return r;
}

/* ------------------------------------------------------------------------------------------------- executor events */

static void on_removed(void *owner, int32_t id, const struct exit_reason *reason)
{
        const struct kube_manager *m = owner;
        char text[12];
        snprintf(text, sizeof(text), "%d", id);
        cluster_backend_executor_exited(m->backend, text, reason->caused_by_app, reason->message);
}

static void on_creating(void *owner, int32_t id)
{
        const struct kube_manager *m = owner;
        cluster_backend_reserve_executor_ids(m->backend, id + 1);
}

static void on_given_up(void *owner, int exit_code, const char *message)
{
        const struct kube_manager *m = owner;
        log_error(LOG, "Application has been killed. Reason: %s", message);
        if (exit_code == LIFECYCLE_EXIT_FAILURES) /* as Spark's driver, exit at once */
                exit_hooks_exit(exit_code);
        cluster_backend_abort(m->backend, message);
}

static char *pending_reason(void *owner)
{
        const struct kube_manager *m = owner;
        return kube_executors_pending_reason(m->executors);
}

static void on_gang_timeout(void *owner, const char *message)
{
        on_given_up(owner, 1, message);
}

static void on_roll(void *owner, const char *executor_id, const char *reason)
{
        const struct kube_manager *m = owner;
        cluster_backend_executor_decommissioned(m->backend, executor_id, false, reason);
}

static const struct min_executors_wait_ops gang_ops = {.why = pending_reason, .given_up = on_gang_timeout};
static const struct kube_executors_ops executors_ops = {
        .creating = on_creating, .removed = on_removed, .given_up = on_given_up};

/* ----------------------------------------------------------------------------------------------------- the manager */

static int kube_read_settings(struct kube_manager *m, struct fst_error *error)
{
        struct fst_conf *conf = m->sc->conf;
        m->cores_each = 1;
        int r = conf_get_string(conf, "spark.kubernetes.namespace", &m->namespace, error);
        if (r == 0 && conf_contains(conf, "spark.executor.cores"))
                r = conf_get_int(conf, "spark.executor.cores", &m->cores_each, error);
        if (r == 0)
                r = gang_read(conf, &m->gang, error);
        if (r == 0 && m->gang.wanted) /* the gang's timeout replaces this one */
                conf_set_if_missing(conf, "spark.scheduler.maxRegisteredResourcesWaitingTime", "3650d");
        return r;
}

/* Sets the common prefix of the executors' pod names. */
static void choose_prefix(struct kube_manager *m)
{
        if (conf_contains(m->sc->conf, PREFIX))
                return;
        _cleanup_free_ char *prefix = kube_name_prefix(m->sc->app_name, m->names.unique);
        conf_set(m->sc->conf, PREFIX, prefix);
}

/* The id of the application that executors of an earlier driver know, or NULL if none wait. */
static const char *kube_waiting_executors_id(const struct kube_manager *m)
{
        struct resume_identity identity;
        return resume_identity(m->sc->resume, &identity) && resume_driver_epoch(m->sc->resume).executors_wait
                       ? identity.earlier_id
                       : NULL;
}

static int kube_announce(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                         char **app_id, struct fst_error *error)
{
        struct kube_manager *m = kube_manager_of(manager);
        const char *given = conf_get_raw(m->sc->conf, "spark.app.id");
        m->backend = backend;
        m->app_id = mem_strdup(given ? given : m->names.app_id);
        choose_prefix(m);
        int r = connect_server(m, cluster_backend_loop(backend), error);
        if (r == 0)
                r = find_driver_pod(m, error);
        if (r == 0)
                *app_id = mem_strdup(kube_waiting_executors_id(m) ? kube_waiting_executors_id(m) : m->app_id);
        return r;
}

static int initial_executors(const struct kube_manager *m, int *out, struct fst_error *error)
{
        *out = m->target;
        return m->target >= 0 ? 0 : executor_instances_read(m->sc->conf, out, error);
}

/* Logs how to remove the objects of a killed driver outside the cluster, which no pod owns. */
static void log_cleanup_command(const struct kube_manager *m)
{
        if (!m->driver_pod)
                log_info(
                        LOG,
                        "If this driver is killed before it stops, its executors end, but their pods and configuration "
                        "stay. To remove them: kubectl delete pods,configmaps,persistentvolumeclaims --namespace=%s "
                        "-l " KUBE_LABEL_APP_ID "=%s",
                        m->namespace, m->app_id);
}

static double kube_disk_usage(void *owner, const char *executor_id)
{
        const struct kube_manager *m = owner;
        return cluster_backend_disk_usage(m->backend, executor_id);
}

/* ------------------------------------------------------------------------------------------ of an earlier driver */

/* Parses an executor id. Ids are positive numbers that we assign: -1 is not an executor in a pod. */
static int32_t id_of(const char *executor_id)
{
        char *end;
        const long id = strtol(executor_id, &end, 10);
        return *executor_id && !*end && id > 0 && id <= INT32_MAX ? (int32_t)id : -1;
}

/* Lets executors outlive the driver's pod if they wait for the next driver: what owns the pod owns them, too. */
static void kube_mark_executors(struct kube_manager *m)
{
        const struct driver_epoch epoch = resume_driver_epoch(m->sc->resume);
        const json_t *owner = json_array_get(json_at(m->driver_pod, "metadata.ownerReferences"), 0);
        if (!epoch.executors_wait)
                return;
        m->journal =
                pod_adoption_mark(&m->settings, conf_get_raw(m->sc->conf, "spark.firesteel.resume.dir"), epoch.journal);
        if (owner) /* it does not control them: a Job would count them */
                m->lasting_owner =
                        json_pack("{s:O?,s:O?,s:O?,s:O?}", "apiVersion", json_object_get(owner, "apiVersion"), "kind",
                                  json_object_get(owner, "kind"), "name", json_object_get(owner, "name"), "uid",
                                  json_object_get(owner, "uid"));
}

static void kube_adopt(struct executor_manager *manager, struct cluster_backend *backend,
                       const struct earlier_executor *executors, int n, int next_id)
{
        struct kube_manager *m = kube_manager_of(manager);
        m->last_executor = next_id - 1;
        for (int i = 0; i < n; i++) {
                const int32_t id = id_of(executors[i].id);
                if (id > 0)
                        vec_push(&m->expected, (struct expected_pod){.id = id, .profile = executors[i].profile});
                else
                        cluster_backend_executor_exited(backend, executors[i].id, false,
                                                        "It has ended with its driver");
        }
}

/* They may register while the driver looks for their pods. */
static void kube_expect_executors(struct kube_manager *m)
{
        kube_executors_skip_ids(m->executors, m->last_executor);
        for (size_t i = 0; i < m->expected.len; i++)
                kube_executors_adopt(m->executors, m->expected.data[i].id, m->expected.data[i].profile);
}

/* Takes over the pods of expected executors. An executor without a pod has ended. */
static int kube_take_pods(struct kube_manager *m, struct fst_error *error)
{
        bool deletes;
        int r = conf_get_bool(&m->settings, "spark.kubernetes.executor.deleteOnTermination", &deletes, error);
        if (r || !m->journal || !resume_is_resumed(m->sc->resume))
                return r;
        r = pod_adoption_run(&(struct pod_adoption){.client = m->client,
                                                    .namespace = m->namespace,
                                                    .conf = &m->conf,
                                                    .journal = m->journal,
                                                    .delete_others = deletes,
                                                    .expected = m->expected.data,
                                                    .n = m->expected.len},
                             error);
        for (size_t i = 0; r == 0 && i < m->expected.len; i++) {
                const struct expected_pod *x = &m->expected.data[i];
                char id[12];
                if (x->found)
                        continue;
                snprintf(id, sizeof(id), "%d", x->id);
                kube_executors_abandon(m->executors, x->id);
                cluster_backend_executor_exited(m->backend, id, false, "Its pod has ended with its driver");
        }
        return r;
}

static int kube_start(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                      struct fst_error *error)
{
        struct kube_manager *m = kube_manager_of(manager);
        int executors, r;
        kube_mark_executors(m);
        if ((r = initial_executors(m, &executors, error)) || (r = complete_conf(m, error)) ||
            (r = kube_executors_new(&(struct kube_executors_options){.client = m->client,
                                                                     .profiles = m->sc->profiles,
                                                                     .namespace = m->namespace,
                                                                     .app_id = m->app_id,
                                                                     .conf = &m->conf,
                                                                     .settings = &m->settings,
                                                                     .driver_pod = conf_get_raw(m->sc->conf, POD_NAME)},
                                    &executors_ops, m, &m->executors, error)))
                return r;
        kube_expect_executors(m);
        if ((r = create_config_map(m, error)) || (r = kube_take_pods(m, error)))
                return r;
        r = roll_schedule_begin(&(struct roll_schedule_options){.loop = cluster_backend_loop(backend),
                                                                .conf = m->sc->conf,
                                                                .status = m->sc->app_status,
                                                                .decommission = on_roll,
                                                                .owner = m},
                                &m->rolls, error);
        if (r == 0)
                r = resize_plugins_begin(&(struct resize_plugins_options){.client = m->client,
                                                                          .conf = m->sc->conf,
                                                                          .namespace = m->namespace,
                                                                          .app_id = m->app_id,
                                                                          .disk_usage = kube_disk_usage,
                                                                          .owner = m},
                                         &m->resizes, error);
        if (r)
                return r;
        log_cleanup_command(m);
        kube_executors_set_target(m->executors, 0, executors);
        kube_executors_start(m->executors);
        m->min_executors_wait = min_executors_wait_begin(cluster_backend_loop(backend), &m->gang, &gang_ops, m);
        return 0;
}

static int kube_make_secret(struct executor_manager *manager, struct fst_error *error)
{
        struct fst_conf *conf = kube_manager_of(manager)->sc->conf;
        _cleanup_free_ char *secret = NULL;
        int r = security_make_secret(conf, &secret, error);
        if (r == 0)
                conf_set(conf, SECRET, secret);
        return r;
}

static bool kube_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct kube_manager *m = container_of(manager, const struct kube_manager, manager);
        const int32_t id = id_of(executor_id);
        return id < 0 || (m->executors && kube_executors_refuse(m->executors, id));
}

static void kube_registered(struct executor_manager *manager, const char *executor_id)
{
        struct kube_manager *m = kube_manager_of(manager);
        kube_executors_registered(m->executors, id_of(executor_id));
        min_executors_wait_arrived(m->min_executors_wait);
}

static void kube_unregistered(struct executor_manager *manager, const char *executor_id)
{
        kube_executors_unregistered(kube_manager_of(manager)->executors, id_of(executor_id));
}

static void kube_decommissioned(struct executor_manager *manager, const char *executor_id)
{
        kube_executors_decommissioned(kube_manager_of(manager)->executors, id_of(executor_id));
}

static bool kube_request_executors(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        struct kube_manager *m = kube_manager_of(manager);
        for (int i = 0; i < n; i++) {
                if (m->executors)
                        kube_executors_set_target(m->executors, requests[i].profile, requests[i].target);
                else if (requests[i].profile == 0)
                        m->target = requests[i].target;
        }
        return true;
}

static void kube_kill(struct executor_manager *manager, const char *executor_id)
{
        struct kube_manager *m = kube_manager_of(manager);
        cluster_backend_send_stop(m->backend, executor_id);
        kube_executors_kill(m->executors, id_of(executor_id));
}

static int64_t kube_expected_cores(const struct executor_manager *manager, double *ratio)
{
        const struct kube_manager *m = container_of(manager, const struct kube_manager, manager);
        struct fst_error error = FST_ERROR_INIT;
        int executors;
        *ratio = m->gang.wanted ? 1 : 0.8; /* Spark's default for Kubernetes */
        if (initial_executors(m, &executors, &error) < 0)
                executors = 0;
        error_deinit(&error);
        return executors * m->cores_each;
}

static bool kube_stopped(struct executor_manager *manager)
{
        struct kube_manager *m = kube_manager_of(manager);
        if (!m->executors)
                return true;
        min_executors_wait_end(steal(m->min_executors_wait));
        roll_schedule_end(steal(m->rolls));
        resize_plugins_end(steal(m->resizes));
        kube_executors_stop(m->executors);
        return kube_executors_drained(m->executors);
}

static bool kube_manager_is_drained(void *owner)
{
        const struct kube_manager *m = owner;
        return kube_executors_drained(m->executors);
}

/* Waits until the server has the deletions: objects that the driver's pod does not own would stay forever. */
static void wait_for_deletions(struct kube_manager *m)
{
        if (!loop_wait(cluster_backend_loop(m->backend), kube_manager_is_drained, m, SHUTDOWN_TIMEOUT_MS))
                log_warn(LOG,
                         "The API server did not accept the deletion of executors. To remove them: kubectl delete pods "
                         "--namespace=%s -l " KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor",
                         m->namespace, m->app_id);
}

static void kube_stop(struct executor_manager *manager)
{
        struct kube_manager *m = kube_manager_of(manager);
        if (m->executors) {
                kube_executors_stop(m->executors);
                wait_for_deletions(m);
        }
        kube_executors_free(steal(m->executors));
        kube_client_free(steal(m->client));
}

static void kube_free(struct executor_manager *manager)
{
        struct kube_manager *m = kube_manager_of(manager);
        json_decref(m->driver_pod);
        json_decref(m->lasting_owner);
        vec_deinit(&m->expected);
        free(m->journal);
        kube_conf_deinit(&m->conf);
        kube_config_deinit(&m->server);
        submission_files_deinit(&m->files);
        conf_deinit(&m->settings);
        free(m->app_id);
        free(m->namespace);
        free(m);
}

static const struct executor_manager_class kube_class = {
        .name = "kubernetes",
        .outlives_driver = true,
        .make_secret = kube_make_secret,
        .announce = kube_announce,
        .start = kube_start,
        .adopt = kube_adopt,
        .refuses = kube_refuses,
        .registered = kube_registered,
        .forgotten = kube_unregistered,
        .decommissioned = kube_decommissioned,
        .request_executors = kube_request_executors,
        .kill = kube_kill,
        .expected_cores = kube_expected_cores,
        .stopped = kube_stopped,
        .stop = kube_stop,
        .free = kube_free,
};

int kube_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct kube_manager *m = new0(struct kube_manager);
        m->manager.class = &kube_class;
        m->sc = sc;
        m->target = -1;
        m->server = KUBE_CONFIG_INIT;
        conf_init(&m->settings);
        submission_files_init(&m->files, &m->settings.set);
        fresh_names_make(&m->names);
        int r = kube_read_settings(m, error);
        if (r)
                kube_free(&m->manager);
        else
                *out = &m->manager;
        return r;
}
