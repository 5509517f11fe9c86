/* Requests of commands, one after another, on a loop of their own. */
#include "operator/commands/operator_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "operator/resources/spark_application.h"
#include "text/json.h"

#include <inttypes.h>

#define OPERATOR_API OPERATOR_GROUP "/v1beta2"
#define MAX_CONFLICTS 10
#define DEFAULT_UI_PORT 4040

struct operator_client {
        uv_loop_t loop;
        struct kube_config config;
        struct kube_client *kube;
        json_t *items; /* of the list under way */
        kube_sink *sink;
        void *sink_owner;
};

static const struct {
        const char *resource, *kind;
} application_kinds[] = {
        [KIND_SPARK_APPLICATION] = {"sparkapplications", "SparkApplication"},
        [KIND_SCHEDULE] = {"scheduledsparkapplications", "ScheduledSparkApplication"},
};

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
        return r > 0 ? -EIO : r;
}

static char *operator_client_path(enum application_kind kind, const char *namespace, const char *name)
{
        return kube_path(OPERATOR_API, namespace, application_kinds[kind].resource, name);
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

static int operator_client_list_path(struct operator_client *c, const char *path, const char *fields,
                                     int (*compare)(const void *a, const void *b), json_t **out,
                                     struct fst_error *error)
{
        c->items = json_array();
        struct kube_listing how = {.path = path, .fields = fields, .item = operator_client_on_item};
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
        int r = operator_client_list_path(c, path, NULL, operator_client_compare_objects, out, error);
        if (r == -ENOENT)
                error_set(error, r,
                          "the cluster has no %s: install their definitions with `firesteel operator crds | kubectl "
                          "apply -f -`",
                          application_kinds[kind].resource);
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
        return operator_client_list_path(c, path, fields, operator_client_compare_events, out, error);
}

/* ------------------------------------------------------------------------------------------------------- objects */

int operator_client_get(struct operator_client *c, enum application_kind kind, const char *namespace, const char *name,
                        json_t **out, struct fst_error *error)
{
        _cleanup_free_ char *path = operator_client_path(kind, namespace, name);
        return operator_client_wait(c, kube_get(c->kube, path, NULL, NULL), out, error);
}

int operator_client_find(struct operator_client *c, const char *namespace, const char *name,
                         enum application_kind *kind, json_t **out, struct fst_error *error)
{
        for (*kind = KIND_SPARK_APPLICATION; *kind <= KIND_SCHEDULE; (*kind)++) {
                int r = operator_client_get(c, *kind, namespace, name, out, error);
                if (r != -ENOENT)
                        return r;
        }
        return error_set(error, -ENOENT,
                         "there is no SparkApplication or ScheduledSparkApplication \"%s\" in the namespace \"%s\"",
                         name, namespace);
}

int operator_client_driver_ui(struct operator_client *c, const char *namespace, const char *name, char **pod,
                              int *ui_port, struct fst_error *error)
{
        json_t *object;
        int r = operator_client_get(c, KIND_SPARK_APPLICATION, namespace, name, &object, error);
        if (r < 0)
                return r;
        const char *driver = json_text_at(object, "status.driverInfo.podName");
        const char *port = json_string_value(json_object_get(json_at(object, "spec.sparkConf"), "spark.ui.port"));
        *ui_port = (int)json_int_at(object, "status.driverInfo.webUIPort");
        if (*ui_port == 0)
                *ui_port = port ? atoi(port) : DEFAULT_UI_PORT;
        if (driver && *driver)
                *pod = mem_strdup(driver);
        else
                r = error_set(error, -ENOENT, "the application \"%s\" has no driver: its state is %s", name,
                              *json_text_or_empty(object, "status.applicationState.state")
                                      ? json_text_or_empty(object, "status.applicationState.state")
                                      : "NEW (no operator has seen it)");
        json_decref(object);
        return r;
}

/* Returns the name of the driver's pod. The caller owns it. */
static int operator_client_driver(struct operator_client *c, const char *namespace, const char *name, char **pod,
                                  struct fst_error *error)
{
        int ui_port;
        return operator_client_driver_ui(c, namespace, name, pod, &ui_port, error);
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
        int r = operator_client_driver(c, namespace, name, &pod, error);
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
                json_t *object;
                int r = operator_client_get(c, KIND_SPARK_APPLICATION, namespace, name, &object, error);
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

/* Returns the name of the pod of an executor. The caller owns it. */
static int operator_client_executor(struct operator_client *c, const char *namespace, const char *name,
                                    const char *executor, char **pod, struct fst_error *error)
{
        json_t *object, *state;
        const char *key;
        int r = operator_client_get(c, KIND_SPARK_APPLICATION, namespace, name, &object, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *end = mem_printf("-exec-%s", executor);
        json_object_foreach(json_at(object, "status.executorState"), key, state) {
                size_t n = strlen(key), m = strlen(end);
                if (!*pod && (strcmp(key, executor) == 0 || (n >= m && strcmp(key + n - m, end) == 0)))
                        *pod = mem_strdup(key);
        }
        if (!*pod)
                r = error_set(error, -ENOENT, "the application \"%s\" has no executor %s", name, executor);
        json_decref(object);
        return r;
}

int operator_client_logs(struct operator_client *c, const char *namespace, const char *name, const char *executor,
                         bool follow, kube_sink *sink, void *owner, struct fst_error *error)
{
        _cleanup_free_ char *pod = NULL;
        int r = executor ? operator_client_executor(c, namespace, name, executor, &pod, error)
                         : operator_client_driver(c, namespace, name, &pod, error);
        if (r < 0)
                return r;
        c->sink = sink;
        c->sink_owner = owner;
        struct kube_log log = {.container = executor ? NULL : "spark-kubernetes-driver",
                               .follow = follow,
                               .sink = operator_client_on_log};
        return operator_client_wait(c, kube_logs(c->kube, namespace, pod, &log, NULL, c), NULL, error);
}
