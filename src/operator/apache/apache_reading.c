/* See apache_reading.h. */
#include "operator/apache/apache_reading.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_state.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

#define DRIVER_CONTAINER "spark-kubernetes-driver"

static uint64_t apache_version_of(const json_t *object)
{
        const char *version = json_text_at(object, "metadata.resourceVersion");
        return version ? strtoull(version, NULL, 10) : 0;
}

/* ----------------------------------------------------------------------------------------------------------- object */

/* Returns 1 + the index of Apache's finalizer, or 0. */
static int apache_finalizer_of(const json_t *object, const char *finalizer)
{
        const json_t *value;
        size_t i;
        json_array_foreach(json_at(object, "metadata.finalizers"), i, value) {
                if (text_equals(json_string_value(value), finalizer))
                        return (int)i + 1;
        }
        return 0;
}

/* Reads all but the spec. */
static bool apache_reading_make_status(const json_t *object, const char *finalizer, struct apache_reading *out)
{
        struct apache_observation *o = &out->observation;
        *out = (struct apache_reading){0};
        o->namespace = json_text_at(object, "metadata.namespace");
        o->name = json_text_at(object, "metadata.name");
        o->uid = json_text_at(object, "metadata.uid");
        if (!o->namespace || !o->name || !o->uid)
                return false;
        o->version = apache_version_of(object);
        o->generation = json_int_at(object, "metadata.generation");
        o->created_ms = pod_time_read(json_text_at(object, "metadata.creationTimestamp"));
        o->leaving = json_at(object, "metadata.deletionTimestamp") != NULL;
        o->finalizer = apache_finalizer_of(object, finalizer);
        apache_status_read(json_object_get(object, "status"), &o->status);
        return true;
}

static void apache_reading_set_invalid(struct apache_reading *out, int r, const struct fst_error *error)
{
        if (r < 0)
                out->observation.invalid = out->invalid = mem_strdup(error_message(error));
}

bool apache_reading_make(const json_t *object, struct apache_reading *out)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct apache_observation *o = &out->observation;
        if (!apache_reading_make_status(object, APACHE_APPLICATION_FINALIZER, out))
                return false;
        int r = apache_application_read(object, &out->app, NULL, &error);
        if (r == 0)
                r = apache_application_validate(&out->app, &error);
        apache_reading_set_invalid(out, r, &error);
        apache_policy_read(&out->app.spec, &o->policy);
        o->own_id = apache_application_conf(&out->app, "spark.app.id");
        o->own_driver_pod = apache_application_conf(&out->app, "spark.kubernetes.driver.pod.name");
        return true;
}

bool apache_reading_make_cluster(const json_t *object, struct apache_reading *out)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!apache_reading_make_status(object, APACHE_CLUSTER_FINALIZER, out))
                return false;
        int r = apache_cluster_read(object, &out->cluster, NULL, &error);
        if (r == 0)
                r = apache_cluster_validate(&out->cluster, &error);
        apache_reading_set_invalid(out, r, &error);
        return true;
}

void apache_reading_deinit(struct apache_reading *r)
{
        apache_application_deinit(&r->app);
        apache_cluster_deinit(&r->cluster);
        free(r->invalid);
        *r = (struct apache_reading){0};
}

/* ------------------------------------------------------------------------------------------------------------- pods */

static const char *apache_pod_label(const json_t *pod, const char *name)
{
        return json_string_value(json_object_get(json_at(pod, "metadata.labels"), name));
}

/* Returns the status of the driver's container, or NULL: each container counts. */
static const json_t *apache_pod_main(const json_t *pod, const json_t *statuses)
{
        const char *own =
                json_string_value(json_object_get(json_at(pod, "metadata.annotations"), APACHE_ANNOTATION_CONTAINER));
        return json_find_named(statuses, own ? own : DRIVER_CONTAINER);
}

/* The first container that has ended, one that failed before others. */
static void apache_pod_read_container(const json_t *status, struct apache_pod *out)
{
        const json_t *ended = json_at(status, "state.terminated");
        out->started = out->started || json_is_true(json_object_get(status, "ready"));
        out->container_restarted = out->container_restarted || json_int_at(status, "restartCount") > 0;
        if (!ended || (out->container_ended && out->exit_code != 0))
                return;
        out->container_ended = true;
        out->exit_code = (int)json_int_at(ended, "exitCode");
        out->reason = json_text_at(ended, "reason");
}

static void apache_pod_read_containers(const json_t *pod, struct apache_pod *out)
{
        const json_t *statuses = json_at(pod, "status.containerStatuses"), *main = apache_pod_main(pod, statuses);
        json_t *status;
        size_t i;
        if (main) {
                apache_pod_read_container(main, out);
                return;
        }
        json_array_foreach((json_t *)statuses, i, status)
                apache_pod_read_container(status, out);
}

static bool apache_pod_init_failed(const json_t *pod)
{
        json_t *status;
        size_t i;
        json_array_foreach(json_at(pod, "status.initContainerStatuses"), i, status) {
                if (json_int_at(status, "state.terminated.exitCode") > 0)
                        return true;
        }
        return false;
}

static enum apache_pod_end apache_pod_end_of(const json_t *pod, const struct apache_pod *p)
{
        const char *phase = json_text_or_empty(pod, "status.phase"), *reason = json_text_or_empty(pod, "status.reason");
        if (strcmp(phase, "Failed") == 0)
                return strcasecmp(reason, "Evicted") == 0 ? APACHE_POD_EVICTED : APACHE_POD_FAILED;
        if (strcmp(phase, "Succeeded") == 0)
                return APACHE_POD_SUCCEEDED;
        if (apache_pod_init_failed(pod))
                return APACHE_POD_INIT_FAILED;
        if (p->container_ended)
                return p->exit_code == 0 ? APACHE_POD_SUCCEEDED : APACHE_POD_FAILED;
        return p->container_restarted ? APACHE_POD_RESTARTED : APACHE_POD_LIVES;
}

bool apache_pod_read(const json_t *pod, struct apache_pod *out)
{
        const char *role = apache_pod_label(pod, KUBE_LABEL_ROLE);
        *out = (struct apache_pod){
                .namespace = json_text_at(pod, "metadata.namespace"),
                .name = json_text_at(pod, "metadata.name"),
                .uid = json_text_at(pod, "metadata.uid"),
                .application = apache_pod_label(pod, APACHE_LABEL_APPLICATION),
                .application_id = apache_pod_label(pod, KUBE_LABEL_APP_ID),
                .version = apache_version_of(pod),
                .leaving = json_at(pod, "metadata.deletionTimestamp") != NULL,
                .is_driver = text_equals(role, "driver"),
        };
        if (!out->namespace || !out->name || !out->application || (!out->is_driver && !text_equals(role, "executor")))
                return false;
        const json_t *status = json_object_get(pod, "status");
        out->ready = strcmp(json_text_or_empty(status, "phase"), "Running") == 0 &&
                     pod_condition_find(status, "Ready", "True");
        if (out->is_driver) {
                const struct pod_wait wait = pod_wait_read(status);
                apache_pod_read_containers(pod, out);
                out->end = apache_pod_end_of(pod, out);
                out->message = json_text_at(status, "message");
                out->waiting = wait.reason;
                out->waiting_message = wait.message;
        }
        return true;
}
