/*
 * See kube_submit.h.
 *
 * Objects are sent by server-side apply, as Spark does, so that sending one twice is sending it once, and the answer
 * says whether it was new (201). Only the pod is created: of that name there must be none.
 *
 * A signal while objects are being created: without a pod yet, the submission is taken back; with one, it is completed
 * first, as half of one would be worse. A second signal ends the process at once.
 */
#include "deploy/kubernetes/kube_submit.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/log4j2.h"
#include "deploy/kubernetes/cluster_submission.h"
#include "deploy/kubernetes/driver_builder.h"
#include "deploy/kubernetes/driver_objects.h"
#include "deploy/kubernetes/driver_watch.h"
#include "deploy/kubernetes/kube_client.h"
#include "deploy/kubernetes/kube_value.h"
#include "deploy/kubernetes/submission_files.h"
#include "deploy/submit/submission.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENT "Client"
#define FIELD_MANAGER "fieldManager=firesteel&force=true"

#define CHECK_POD "Please check \"kubectl auth can-i create pod\" first. It should be yes."
#define CHECK_RESOURCE                                                                                                 \
        "Please check \"kubectl auth can-i create [resource]\" first. It should be yes. And please also check your "   \
        "feature step implementation."

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

struct deployment {
        struct cluster_submission k;
        struct submission_files files;
        struct kube_config server;
        struct kube_client *client;
        uv_loop_t loop;
        uv_signal_t watched[ARRAY_SIZE(signals)];
        int signalled;

        char *namespace;
        bool wait;
        int64_t interval_ms;
        json_t *objects; /* in order: before the pod, the pod, after it */
        size_t pod_at;
        json_t *pod;     /* as it was created */
        json_t *created; /* with uids where they are known: what is taken back */

        size_t pending;
        int result; /* the first failure of what was pending, with its sentence: */
        struct fst_error error;
};

static const char *name_of(const json_t *object)
{
        const char *name = json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
        return name ? name : "";
}

static const char *kind_of(const json_t *object)
{
        const char *kind = json_string_value(json_object_get(object, "kind"));
        return kind ? kind : "";
}

static void on_signal(uv_signal_t *handle, int number)
{
        struct deployment *d = handle->data;
        d->signalled = number;
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                uv_signal_stop(&d->watched[i]);
}

static void watch_signals(struct deployment *d)
{
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction now;
                uv_signal_init(&d->loop, &d->watched[i]);
                d->watched[i].data = d;
                sigaction(signals[i], NULL, &now);
                if (now.sa_handler != SIG_IGN)
                        uv_signal_start(&d->watched[i], on_signal, signals[i]);
                uv_unref((uv_handle_t *)&d->watched[i]);
        }
}

/* ---------------------------------------------------------------------------------------------------- what is sent */

struct sending {
        struct deployment *d;
        json_t *object;
};

/* Whether nobody else can have made an object of this name. */
static bool is_named_anew(const struct deployment *d, const json_t *object)
{
        return strstr(name_of(object), d->k.names.unique) || strstr(name_of(object), d->k.names.app_id);
}

static void note_created(struct deployment *d, const json_t *object, const json_t *answer)
{
        json_t *copy = json_pack("{s:O, s:O, s:{s:O}}", "apiVersion", json_object_get(object, "apiVersion"), "kind",
                                 json_object_get(object, "kind"), "metadata", "name",
                                 json_object_get(json_object_get(object, "metadata"), "name"));
        static const char *const kept[] = {"namespace", "uid"};
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                json_t *value = json_object_get(json_object_get(answer, "metadata"), kept[i]);
                if (value)
                        json_object_set(json_object_get(copy, "metadata"), kept[i], value);
        }
        json_array_append_new(d->created, copy);
}

static void on_applied(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct sending *s = owner;
        struct deployment *d = s->d;
        d->pending--;
        if (r == 0 ? answer->status == 201 || (answer->attempts > 1 && is_named_anew(d, s->object))
                   : r < 0 && is_named_anew(d, s->object))
                note_created(d, s->object, r == 0 ? answer->object : NULL);
        if (r != 0 && d->result == 0) {
                d->result = r;
                error_set(&d->error, r, "%s %s: %s", kind_of(s->object), name_of(s->object),
                          error_message(answer->error));
        }
        json_decref(s->object);
        free(s);
}

static void apply(struct deployment *d, json_t *object)
{
        struct sending *s = new0(struct sending);
        *s = (struct sending){.d = d, .object = json_incref(object)};
        _cleanup_free_ char *path = kube_object_path(object, d->namespace, true);
        d->pending++;
        kube_send(d->client,
                  &(struct kube_request){.method = "PATCH",
                                         .path = path,
                                         .query = FIELD_MANAGER,
                                         .body = object,
                                         .content_type = "application/apply-patch+yaml"},
                  on_applied, s);
}

static void on_pod(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct deployment *d = owner;
        d->pending--;
        d->result = r;
        const json_t *asked = json_array_get(d->objects, d->pod_at);
        if (r == 0)
                d->pod = json_incref(answer->object);
        else if (r < 0 && is_named_anew(d, asked)) /* the answer may be all that was lost */
                note_created(d, asked, NULL);
        if (r != 0)
                error_set(&d->error, r, "%s", error_message(answer->error));
}

static void on_deleted(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct sending *s = owner;
        s->d->pending--;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT)
                log_warn(COMPONENT, "%s %s is left behind in namespace %s: %s", kind_of(s->object), name_of(s->object),
                         s->d->namespace, error_message(answer->error));
        json_decref(s->object);
        free(s);
}

static void run_pending(struct deployment *d)
{
        while (d->pending > 0)
                uv_run(&d->loop, UV_RUN_ONCE);
}

/* -------------------------------------------------------------------------------------------------------- creating */

static void take_back(struct deployment *d)
{
        json_t *object;
        size_t i;
        if (d->pod)
                note_created(d, json_array_get(d->objects, d->pod_at), d->pod);
        json_array_foreach(d->created, i, object) {
                const char *uid = json_string_value(json_object_get(json_object_get(object, "metadata"), "uid"));
                struct sending *s = new0(struct sending);
                *s = (struct sending){.d = d, .object = json_incref(object)};
                _cleanup_free_ char *path = kube_object_path(object, d->namespace, true);
                d->pending++;
                kube_delete(d->client, path, &(struct kube_deletion){.uid = uid, .propagation = "Background"},
                            on_deleted, s);
        }
        run_pending(d);
}

/* The failure of what was sent, as a negative errno. */
static int failure(const struct deployment *d, const char *what, struct fst_error *error)
{
        int r = d->result;
        int code = r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED || r == FST_KUBE_E_QUOTA ? -EACCES
                   : r == FST_KUBE_E_ALREADY_EXISTS                                                   ? -EEXIST
                   : r == FST_KUBE_E_INVALID                                                          ? -EINVAL
                   : r > 0                                                                            ? -EIO
                                                                                                      : r;
        return error_set(error, code, "%s: %s", what, error_message(&d->error));
}

static void apply_from(struct deployment *d, size_t from, size_t to)
{
        d->result = 0;
        for (size_t i = from; i < to; i++)
                apply(d, json_array_get(d->objects, i));
        run_pending(d);
}

static int create_pod(struct deployment *d, struct fst_error *error)
{
        const json_t *pod = json_array_get(d->objects, d->pod_at);
        d->pending++;
        kube_create(d->client, d->namespace, pod, on_pod, d);
        run_pending(d);
        if (d->result == 0)
                return 0;
        if (d->result == FST_KUBE_E_ALREADY_EXISTS)
                return error_set(error, -EEXIST,
                                 "there is a pod %s in the namespace %s already: kubectl delete pod %s --namespace=%s, "
                                 "or another spark.kubernetes.driver.pod.name",
                                 name_of(pod), d->namespace, name_of(pod), d->namespace);
        log_error(COMPONENT, CHECK_POD);
        return failure(d, "the driver's pod cannot be created", error);
}

/* The pod owns all the others: those before it too, which are sent again. */
static void create_rest(struct deployment *d)
{
        json_t *object;
        size_t i;
        json_array_foreach(d->objects, i, object)
                if (i != d->pod_at)
                        kube_set_owner(object, d->pod);
        apply_from(d, 0, 0);
        json_array_foreach(d->objects, i, object)
                if (i != d->pod_at)
                        apply(d, object);
        run_pending(d);
}

static int deploy(struct deployment *d, struct fst_error *error)
{
        apply_from(d, 0, d->pod_at);
        int r = 0;
        if (d->result != 0) {
                log_error(COMPONENT, CHECK_RESOURCE);
                r = failure(d, "what the driver's pod needs cannot be created", error);
        } else if (!d->signalled) {
                r = create_pod(d, error);
        }
        if (r == 0 && d->pod) {
                create_rest(d);
                if (d->result != 0)
                        r = failure(d, "what the driver's pod needs cannot be created", error);
        }
        if (r < 0 || !d->pod)
                take_back(d);
        return r;
}

/* --------------------------------------------------------------------------------------------------------- waiting */

static const char *container_of_pod(const json_t *pod)
{
        const json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
        const json_t *last = json_array_get(containers, json_array_size(containers) - 1);
        return json_string_value(json_object_get(last, "name"));
}

static int follow(struct deployment *d, const char *id, int *status, struct fst_error *error)
{
        const char *container = container_of_pod(json_array_get(d->objects, d->pod_at));
        struct driver_watch w;
        driver_watch_begin(&w, d->client,
                           &(struct driver_subject){.pod = d->pod,
                                                    .namespace = d->namespace,
                                                    .container = container ? container : "",
                                                    .app_name = kube_app_name(&d->k.conf),
                                                    .app_id = d->k.names.app_id,
                                                    .submission_id = id,
                                                    .interval_ms = d->interval_ms});
        while (!driver_watch_is_over(&w) && !d->signalled)
                uv_run(&d->loop, UV_RUN_ONCE);
        if (!driver_watch_is_over(&w)) {
                log_info(COMPONENT,
                         "The driver goes on without being waited for: --status %s tells of it, --kill ends it", id);
                *status = 128 + d->signalled;
        }
        return driver_watch_end(&w, status, error);
}

static int run(struct deployment *d, int *status, struct fst_error *error)
{
        int r = deploy(d, error);
        if (r < 0)
                return r;
        *status = d->signalled ? 128 + d->signalled : 0;
        if (!d->pod)
                return 0;
        _cleanup_free_ char *id = mem_printf("%s:%s", d->namespace, name_of(d->pod));
        if (d->wait && !d->signalled)
                return follow(d, id, status, error);
        log_info(COMPONENT, "Deployed Spark application %s with application ID %s and submission ID %s into Kubernetes",
                 kube_app_name(&d->k.conf), d->k.names.app_id, id);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- whole */

/* Everything that can be refused before anything is sent. */
static int prepare(struct deployment *d, const struct submission *s, struct fst_error *error)
{
        int r = cluster_submission_init(&d->k, s, error);
        if (r < 0)
                return r;
        const struct fst_conf *conf = &d->k.settings;
        d->k.conf.files = submission_files_of(&d->files);
        r = log4j2_configure(conf, getenv("SPARK_CONF_DIR"), error);
        if (r == 0)
                r = kube_string(&d->k.conf, "spark.kubernetes.namespace", &d->namespace, error);
        if (r == 0)
                r = kube_bool(&d->k.conf, "spark.kubernetes.submission.waitAppCompletion", &d->wait, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.kubernetes.report.interval", &d->interval_ms, error);
        if (r == 0)
                r = kube_config_from_conf(conf, KUBE_SUBMISSION, strmap_get(&conf->set, "spark.master"), &d->server,
                                          error);
        if (r == 0)
                r = driver_objects_make(&d->k.conf, &d->objects, error);
        while (r == 0 && strcmp(kind_of(json_array_get(d->objects, d->pod_at)), "Pod") != 0)
                d->pod_at++;
        return r;
}

static void deployment_deinit(struct deployment *d)
{
        json_decref(d->objects);
        json_decref(d->created);
        json_decref(d->pod);
        kube_config_deinit(&d->server);
        cluster_submission_deinit(&d->k);
        submission_files_deinit(&d->files);
        error_deinit(&d->error);
        free(d->namespace);
}

int kube_submit(const struct submission *s, int *status, struct fst_error *error)
{
        _cleanup_(deployment_deinit) struct deployment d = {.server = KUBE_CONFIG_INIT, .created = json_array()};
        submission_files_init(&d.files, &s->conf);
        int r = prepare(&d, s, error);
        if (r < 0)
                return r;
        uv_loop_init(&d.loop);
        watch_signals(&d);
        r = kube_client_new(&d.loop, &d.server, NULL, &d.client, error);
        if (r == 0)
                r = run(&d, status, error);
        kube_client_free(d.client);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                uv_close((uv_handle_t *)&d.watched[i], NULL);
        uv_run(&d.loop, UV_RUN_DEFAULT);
        uv_loop_close(&d.loop);
        return r;
}
