/* Requests of commands, one after another, on a loop of their own. */
#include "operator/commands/operator_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "operator/apache/apache_application.h"
#include "operator/apache/apache_status.h"
#include "operator/resources/spark_application.h"
#include "text/json.h"

#include <inttypes.h>

#define OPERATOR_API OPERATOR_GROUP "/v1beta2"
#define MAX_CONFLICTS 10
#define DEFAULT_UI_PORT 4040
#define APPLICATIONS (1u << KIND_SPARK_APPLICATION | 1u << KIND_APACHE_APPLICATION)

struct operator_client {
        uv_loop_t loop;
        struct kube_config config;
        struct kube_client *kube;
        json_t *items; /* of the list under way */
        kube_sink *sink;
        void *sink_owner;
};

static const struct {
        const char *api, *resource, *kind, *name;
} application_kinds[N_APPLICATION_KINDS] = {
        [KIND_SPARK_APPLICATION] = {OPERATOR_API, "sparkapplications", "SparkApplication", "SparkApplication"},
        [KIND_SCHEDULE] = {OPERATOR_API, "scheduledsparkapplications", "ScheduledSparkApplication",
                           "ScheduledSparkApplication"},
        [KIND_APACHE_APPLICATION] = {APACHE_API, "sparkapplications", "SparkApplication",
                                     "SparkApplication of " APACHE_GROUP},
        [KIND_SPARK_CLUSTER] = {APACHE_API, "sparkclusters", "SparkCluster", "SparkCluster"},
};

const char *application_kind_name(enum application_kind kind)
{
        return application_kinds[kind].name;
}

const char *application_kind_of(enum application_kind kind)
{
        return application_kinds[kind].kind;
}

const char *application_kind_api(enum application_kind kind)
{
        return application_kinds[kind].api;
}

int operator_client_open(const char *kubeconfig, struct operator_client **out, struct fst_error *error)
{
        struct operator_client *c = new0(struct operator_client);
        c->config = KUBE_CONFIG_INIT;
        uv_loop_init(&c->loop);
        int r = kube_config_read_here(kubeconfig, &c->config, error);
        if (r == 0)
                r = kube_client_new(&c->loop, &c->config, "firesteel/" FIRESTEEL_VERSION, &c->kube, error);
        if (r < 0)
                operator_client_free(c);
        else
                *out = c;
        return r;
}

void operator_client_free(struct operator_client *c)
{
        if (!c)
                return;
        kube_client_free(c->kube);
        uv_run(&c->loop, UV_RUN_DEFAULT);
        uv_loop_close(&c->loop);
        kube_config_deinit(&c->config);
        free(c);
}

const char *operator_client_namespace(const struct operator_client *c)
{
        return c->config.namespace;
}

/* Turns an outcome of the client into a negative code, with its message. */
static int operator_client_wait(struct operator_client *c, struct kube_call *call, json_t **out,
                                struct fst_error *error)
{
        int r = kube_wait(c->kube, call, out, error);
        if (r == FST_KUBE_E_NOT_FOUND)
                return -ENOENT;
        if (r == FST_KUBE_E_ALREADY_EXISTS)
                return -EEXIST;
        if (r == FST_KUBE_E_FORBIDDEN)
                return -EACCES;
        return r > 0 ? -EIO : r;
}

static char *operator_client_path(enum application_kind kind, const char *namespace, const char *name)
{
        return kube_path(application_kinds[kind].api, namespace, application_kinds[kind].resource, name);
}

/* ---------------------------------------------------------------------------------------------------------- lists */

static int operator_client_on_item(void *owner, json_t *item)
{
        struct operator_client *c = owner;
        if (!item)
                json_array_clear(c->items);
        else
                json_array_append(c->items, item);
        return 0;
}

static int operator_client_compare_objects(const void *a, const void *b)
{
        const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
        int order = strcmp(json_text_or_empty(x, "metadata.namespace"), json_text_or_empty(y, "metadata.namespace"));
        return order ? order : strcmp(json_text_or_empty(x, "metadata.name"), json_text_or_empty(y, "metadata.name"));
}

static json_t *operator_client_sort(const json_t *items, int (*compare)(const void *a, const void *b))
{
        size_t n = json_array_size(items);
        json_t **list = new_array(json_t *, n + 1), *out = json_array();
        for (size_t i = 0; i < n; i++)
                list[i] = json_array_get(items, i);
        qsort(list, n, sizeof(list[0]), compare);
        for (size_t i = 0; i < n; i++)
                json_array_append(out, list[i]);
        free(list);
        return out;
}

static int operator_client_list_path(struct operator_client *c, const char *path, const char *labels,
                                     const char *fields, int (*compare)(const void *a, const void *b), json_t **out,
                                     struct fst_error *error)
{
        c->items = json_array();
        struct kube_listing how = {.path = path, .labels = labels, .fields = fields, .item = operator_client_on_item};
        int r = operator_client_wait(c, kube_list_items(c->kube, &how, NULL, c), NULL, error);
        if (r == 0)
                *out = operator_client_sort(c->items, compare);
        json_decref(steal(c->items));
        return r;
}

int operator_client_list(struct operator_client *c, enum application_kind kind, const char *namespace, json_t **out,
                         struct fst_error *error)
{
        _cleanup_free_ char *path = operator_client_path(kind, namespace, NULL);
        int r = operator_client_list_path(c, path, NULL, NULL, operator_client_compare_objects, out, error);
        if (r == -ENOENT)
                error_set(error, r,
                          "the cluster has no %s: install their definitions with `firesteel operator crds%s | kubectl "
                          "apply -f -`",
                          application_kinds[kind].resource,
                          kind >= KIND_APACHE_APPLICATION ? " --group " APACHE_GROUP : "");
        return r;
}

static const char *operator_event_time(const json_t *event)
{
        static const char *const members[] = {"lastTimestamp", "eventTime", "metadata.creationTimestamp"};
        for (size_t i = 0; i < ARRAY_SIZE(members); i++)
                if (*json_text_or_empty(event, members[i]))
                        return json_text_or_empty(event, members[i]);
        return "";
}

static int operator_client_compare_events(const void *a, const void *b)
{
        return strcmp(operator_event_time(*(json_t *const *)a), operator_event_time(*(json_t *const *)b));
}

int operator_client_events(struct operator_client *c, const char *namespace, const char *name, json_t **out,
                           struct fst_error *error)
{
        _cleanup_free_ char *path = kube_path("v1", namespace, "events", NULL);
        _cleanup_free_ char *fields = mem_printf("involvedObject.name=%s", name);
        return operator_client_list_path(c, path, NULL, fields, operator_client_compare_events, out, error);
}

/* ------------------------------------------------------------------------------------------------------- objects */

int operator_client_get(struct operator_client *c, enum application_kind kind, const char *namespace, const char *name,
                        json_t **out, struct fst_error *error)
{
        _cleanup_free_ char *path = operator_client_path(kind, namespace, name);
        return operator_client_wait(c, kube_get(c->kube, path, NULL, NULL), out, error);
}

/* Finds the first object @name whose kind is in @kinds, a set of bits. */
static int operator_client_find_among(struct operator_client *c, unsigned kinds, const char *namespace,
                                      const char *name, enum application_kind *kind, json_t **out,
                                      struct fst_error *error)
{
        for (int k = 0; k < N_APPLICATION_KINDS; k++) {
                if (!(kinds & (1u << k)))
                        continue;
                *kind = (enum application_kind)k;
                int r = operator_client_get(c, *kind, namespace, name, out, error);
                bool unreadable = r == -EACCES && k >= KIND_APACHE_APPLICATION;
                if (r != -ENOENT && !unreadable)
                        return r;
        }
        return error_set(error, -ENOENT, "there is no %s \"%s\" in the namespace \"%s\"",
                         kinds == APPLICATIONS ? "SparkApplication"
                                               : "SparkApplication, ScheduledSparkApplication or SparkCluster",
                         name, namespace);
}

int operator_client_find(struct operator_client *c, const char *namespace, const char *name,
                         enum application_kind *kind, json_t **out, struct fst_error *error)
{
        return operator_client_find_among(c, (1u << N_APPLICATION_KINDS) - 1, namespace, name, kind, out, error);
}

/* ------------------------------------------------------------------------------------------------------------ pods */

/* Where an application runs. */
struct found_driver {
        enum application_kind kind;
        char *pod, *id; /* owned; id: the label spark-app-selector */
        int ui_port;
        json_t *executors; /* borrowed names of pods: the status has them. NULL for spark.apache.org */
        json_t *object;    /* owned */
};

static void found_driver_deinit(struct found_driver *d)
{
        free(d->pod);
        free(d->id);
        json_decref(d->object);
        *d = (struct found_driver){0};
}

/* Reads an application of spark.apache.org. Sets its state to *@state. */
static void found_driver_read_apache(struct found_driver *d, const char **state)
{
        const char *port = json_string_value(json_object_get(json_at(d->object, "spec.sparkConf"), "spark.ui.port"));
        *state = json_text_or_empty(d->object, "status.currentState.currentStateSummary");
        enum apache_state is = apache_state_parse(*state);
        d->ui_port = port ? atoi(port) : DEFAULT_UI_PORT;
        apache_object_names(d->object, &d->id, &d->pod);
        if (is == APACHE_NEW || apache_state_is_initializing(is))
                free(steal(d->pod));
}

static void found_driver_read(struct found_driver *d, const char **state)
{
        const char *pod = json_text_at(d->object, "status.driverInfo.podName");
        const char *port = json_string_value(json_object_get(json_at(d->object, "spec.sparkConf"), "spark.ui.port"));
        d->ui_port = (int)json_int_at(d->object, "status.driverInfo.webUIPort");
        if (d->ui_port == 0)
                d->ui_port = port ? atoi(port) : DEFAULT_UI_PORT;
        d->pod = pod && *pod ? mem_strdup(pod) : NULL;
        d->executors = json_at(d->object, "status.executorState");
        *state = json_text_or_empty(d->object, "status.applicationState.state");
}

/* The caller must deinit @d after success. */
static int operator_client_find_driver(struct operator_client *c, const char *namespace, const char *name,
                                       struct found_driver *d, struct fst_error *error)
{
        const char *state = "";
        *d = (struct found_driver){0};
        int r = operator_client_find_among(c, APPLICATIONS, namespace, name, &d->kind, &d->object, error);
        if (r < 0)
                return r;
        if (d->kind == KIND_APACHE_APPLICATION)
                found_driver_read_apache(d, &state);
        else
                found_driver_read(d, &state);
        if (!d->pod)
                r = error_set(error, -ENOENT, "the application \"%s\" has no driver: its state is %s", name,
                              *state ? state : "NEW (no operator has seen it)");
        if (r < 0)
                found_driver_deinit(d);
        return r;
}

int operator_client_driver_ui(struct operator_client *c, const char *namespace, const char *name, char **pod,
                              int *ui_port, struct fst_error *error)
{
        struct found_driver d;
        int r = operator_client_find_driver(c, namespace, name, &d, error);
        if (r < 0)
                return r;
        *pod = steal(d.pod);
        *ui_port = d.ui_port;
        found_driver_deinit(&d);
        return 0;
}

int operator_client_pod_lives(struct operator_client *c, const char *namespace, const char *pod,
                              struct fst_error *error)
{
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", pod);
        json_t *object = NULL;
        int r = operator_client_wait(c, kube_get(c->kube, path, NULL, NULL), &object, error);
        const char *phase = json_text_or_empty(object, "status.phase");
        bool ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
        json_decref(object);
        return r == -ENOENT ? 0 : r < 0 ? r : !ended;
}

const struct kube_config *operator_client_config(const struct operator_client *c)
{
        return &c->config;
}

int operator_client_kill(struct operator_client *c, const char *namespace, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *pod = NULL;
        int port, r = operator_client_driver_ui(c, namespace, name, &pod, &port, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", pod);
        return operator_client_wait(c, kube_delete(c->kube, path, NULL, NULL, NULL), NULL, error);
}

int operator_client_restart(struct operator_client *c, const char *namespace, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *part = mem_printf("%s/status", name);
        _cleanup_free_ char *path = operator_client_path(KIND_SPARK_APPLICATION, namespace, part);
        for (int i = 0;; i++) {
                enum application_kind kind;
                json_t *object;
                int r = operator_client_find_among(c, APPLICATIONS, namespace, name, &kind, &object, error);
                if (r == 0 && kind == KIND_APACHE_APPLICATION) {
                        json_decref(object);
                        r = error_set(error, -EINVAL,
                                      "\"%s\" is a SparkApplication of " APACHE_GROUP ", which runs once: delete it "
                                      "and create it again, or set applicationTolerations.restartConfig",
                                      name);
                }
                if (r < 0)
                        return r;
                const char *state = json_text_or_empty(object, "status.applicationState.state");
                if (!*state || json_is_true(json_at(object, "spec.suspend"))) {
                        r = error_set(error, -EINVAL, "the application \"%s\" %s", name,
                                      *state ? "is suspended: resume it" : "was not submitted yet");
                        json_decref(object);
                        return r;
                }
                json_t *patch = json_pack("{s:{s:O}, s:{s:{s:s, s:s}}}", "metadata", "resourceVersion",
                                          json_at(object, "metadata.resourceVersion"), "status", "applicationState",
                                          "state", "INVALIDATING", "errorMessage", "");
                json_decref(object);
                r = kube_wait(c->kube, kube_patch(c->kube, path, KUBE_PATCH_MERGE, patch, NULL, NULL), NULL, error);
                json_decref(patch);
                if (r != FST_KUBE_E_CONFLICT || i >= MAX_CONFLICTS)
                        return r > 0 ? -EIO : r;
        }
}

/* Makes an application of a schedule's template. @owned: as a run of the schedule. */
static int operator_client_start(struct operator_client *c, const char *namespace, const char *schedule,
                                 const char *name, bool owned, struct fst_error *error)
{
        json_t *object;
        int r = operator_client_get(c, KIND_SCHEDULE, namespace, schedule, &object, error);
        if (r < 0)
                return r;
        json_t *labels = json_at(object, "metadata.labels"), *template = json_at(object, "spec.template");
        json_t *app = json_pack("{s:s, s:s, s:{s:s, s:s, s:o}, s:O}", "apiVersion", OPERATOR_API, "kind",
                                application_kinds[KIND_SPARK_APPLICATION].kind, "metadata", "name", name, "namespace",
                                namespace, "labels", labels ? json_copy(labels) : json_object(), "spec", template);
        if (!app)
                r = error_set(error, -EINVAL, "the schedule \"%s\" has no template", schedule);
        if (app && owned) {
                json_t *metadata = json_object_get(app, "metadata");
                json_object_set_new(json_object_get(metadata, "labels"), LABEL_SCHEDULED_APP_NAME,
                                    json_string(schedule));
                json_object_set_new(metadata, "ownerReferences",
                                    json_pack("[{s:s, s:s, s:s, s:O, s:b}]", "apiVersion", OPERATOR_API, "kind",
                                              application_kinds[KIND_SCHEDULE].kind, "name", schedule, "uid",
                                              json_at(object, "metadata.uid"), "blockOwnerDeletion", true));
        }
        if (r == 0)
                r = operator_client_create(c, namespace, app, error);
        json_decref(app);
        json_decref(object);
        return r;
}

int operator_client_reschedule(struct operator_client *c, const char *namespace, const char *schedule, char **run,
                               struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s-%" PRId64, schedule, time_of_day_ms() * 1000000);
        int r = operator_client_start(c, namespace, schedule, name, true, error);
        if (r == 0)
                *run = steal(name);
        return r;
}

int operator_client_create_from(struct operator_client *c, const char *namespace, const char *schedule,
                                const char *name, struct fst_error *error)
{
        return operator_client_start(c, namespace, schedule, name, false, error);
}

int operator_client_suspend(struct operator_client *c, const char *namespace, const char *name, bool suspend,
                            struct fst_error *error)
{
        enum application_kind kind;
        json_t *object;
        int r = operator_client_find(c, namespace, name, &kind, &object, error);
        if (r < 0)
                return r;
        json_decref(object);
        if (kind >= KIND_APACHE_APPLICATION)
                return error_set(error, -EINVAL, "\"%s\" is a %s, which cannot be suspended: delete it", name,
                                 application_kind_name(kind));
        json_t *patch = json_pack("{s:{s:b}}", "spec", "suspend", suspend);
        _cleanup_free_ char *path = operator_client_path(kind, namespace, name);
        r = operator_client_wait(c, kube_patch(c->kube, path, KUBE_PATCH_MERGE, patch, NULL, NULL), NULL, error);
        json_decref(patch);
        return r;
}

int operator_client_delete(struct operator_client *c, const char *namespace, const char *name, struct fst_error *error)
{
        enum application_kind kind;
        json_t *object;
        int r = operator_client_find(c, namespace, name, &kind, &object, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = operator_client_path(kind, namespace, name);
        const struct kube_deletion how = {.uid = json_text_at(object, "metadata.uid"), .propagation = "Background"};
        r = operator_client_wait(c, kube_delete(c->kube, path, &how, NULL, NULL), NULL, error);
        json_decref(object);
        return r;
}

int operator_client_create(struct operator_client *c, const char *namespace, const json_t *object,
                           struct fst_error *error)
{
        int r = operator_client_wait(c, kube_create(c->kube, namespace, object, NULL, NULL), NULL, error);
        return r == -ENOENT ? error_wrap(error, r,
                                         "is the custom resource definition installed (firesteel operator crds), and "
                                         "the namespace there?")
                            : r;
}

/* ----------------------------------------------------------------------------------------------------------- logs */

static int operator_client_on_log(void *owner, const char *data, size_t n)
{
        struct operator_client *c = owner;
        return c->sink(c->sink_owner, data, n);
}

/* Whether @pod is the executor @executor, a number or the pod's name. */
static bool operator_pod_is_executor(const char *pod, const char *executor)
{
        _cleanup_free_ char *end = mem_printf("-exec-%s", executor);
        return strcmp(pod, executor) == 0 || text_ends_with(pod, end);
}

/* Returns the name of the pod of an executor in *@pod, or leaves it. The caller owns it. */
static int operator_client_find_executor(struct operator_client *c, const char *namespace, const struct found_driver *d,
                                         const char *executor, char **pod, struct fst_error *error)
{
        const char *key;
        json_t *state, *items = NULL, *item;
        size_t i;
        json_object_foreach(d->executors, key, state) {
                if (!*pod && operator_pod_is_executor(key, executor))
                        *pod = mem_strdup(key);
        }
        if (d->kind != KIND_APACHE_APPLICATION)
                return 0;
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", NULL);
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor", d->id);
        int r = operator_client_list_path(c, path, labels, NULL, operator_client_compare_objects, &items, error);
        json_array_foreach(items, i, item) {
                const char *name = json_text_or_empty(item, "metadata.name");
                if (!*pod && operator_pod_is_executor(name, executor))
                        *pod = mem_strdup(name);
        }
        json_decref(items);
        return r;
}

/* Returns the name of the driver's container. The caller owns it. */
static int operator_client_driver_container(struct operator_client *c, const char *namespace,
                                            const struct found_driver *d, char **container, struct fst_error *error)
{
        json_t *pod = NULL;
        int r = 0;
        if (d->kind == KIND_APACHE_APPLICATION) {
                _cleanup_free_ char *path = kube_path("v1", namespace, "pods", d->pod);
                r = operator_client_wait(c, kube_get(c->kube, path, NULL, NULL), &pod, error);
        }
        const char *own =
                json_string_value(json_object_get(json_at(pod, "metadata.annotations"), APACHE_ANNOTATION_CONTAINER));
        if (r == 0)
                *container = mem_strdup(own ? own : "spark-kubernetes-driver");
        json_decref(pod);
        return r;
}

int operator_client_logs(struct operator_client *c, const char *namespace, const char *name, const char *executor,
                         bool follow, kube_sink *sink, void *owner, struct fst_error *error)
{
        _cleanup_free_ char *pod = NULL, *container = NULL;
        _cleanup_(found_driver_deinit) struct found_driver d;
        int r = operator_client_find_driver(c, namespace, name, &d, error);
        if (r == 0 && executor)
                r = operator_client_find_executor(c, namespace, &d, executor, &pod, error);
        else if (r == 0)
                r = operator_client_driver_container(c, namespace, &d, &container, error);
        if (r == 0 && executor && !pod)
                r = error_set(error, -ENOENT, "the application \"%s\" has no executor %s", name, executor);
        if (r < 0)
                return r;
        c->sink = sink;
        c->sink_owner = owner;
        struct kube_log log = {.container = container, .follow = follow, .sink = operator_client_on_log};
        return operator_client_wait(c, kube_logs(c->kube, namespace, executor ? pod : d.pod, &log, NULL, c), NULL,
                                    error);
}
