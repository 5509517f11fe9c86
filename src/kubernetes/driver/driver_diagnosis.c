/*
 * Explains why a driver pod failed.
 *
 * Differs from Spark: Spark's client shows only the states of the pod's containers. It names no init container, and its
 * reader must know what the numbers mean. Here the text names the cause and the remedy. It refers to a log only while
 * there is one: the log of a pod goes when the pod is deleted, and with the containers when a node evicts the pod.
 */
#include "kubernetes/driver/driver_diagnosis.h"

#include "kubernetes/api/pod_state.h"
#include "kubernetes/api/pod_description.h"
#include "text/json.h"

#include <string.h>

static void sentence_begin(struct buf *out)
{
        if (out->len > 0)
                buf_puts(out, ". ");
}

/* Appends a server's sentence without the full stop at its end. */
static void sentence_append(struct buf *out, const char *text)
{
        size_t n = strlen(text);
        while (n > 0 && strchr(". \n", text[n - 1]))
                n--;
        buf_append(out, text, n);
}

static void reason_append(struct buf *out, const char *reason, const char *message)
{
        if (reason)
                buf_puts(out, reason);
        if (reason && message)
                buf_puts(out, ": ");
        if (message)
                sentence_append(out, message);
}

static void describe_failed_container(struct driver_diagnosis *d, const struct pod_container *c, bool is_driver,
                                      bool is_init)
{
        sentence_begin(&d->text);
        buf_printf(&d->text, "%s %s ", is_init ? "Its init container" : "Its container", c->name ? c->name : "");
        if (c->reason && strcmp(c->reason, "OOMKilled") == 0) {
                if (c->memory_limit)
                        buf_printf(&d->text, "used more memory than its limit of %s and was killed (OOMKilled)",
                                   c->memory_limit);
                else
                        buf_puts(&d->text, "was killed because its node had no memory left (OOMKilled)");
                if (is_driver)
                        buf_puts(&d->text, ". Raise spark.driver.memoryOverhead or spark.driver.memory");
                return;
        }
        buf_printf(&d->text, "ended with exit code %d", c->exit_code);
        if (!d->log_container || is_driver)
                d->log_container = c->name;
}

static void describe_failed_containers(struct driver_diagnosis *d, const json_t *pod, const char *container,
                                       bool is_init)
{
        const json_t *status = json_object_get(pod, "status"), *one;
        const json_t *all = json_object_get(status, is_init ? "initContainerStatuses" : "containerStatuses");
        const json_t *specs = json_at(pod, is_init ? "spec.initContainers" : "spec.containers");
        size_t i;
        json_array_foreach((json_t *)all, i, one) {
                const char *name = json_text_at(one, "name");
                struct pod_container c = pod_container_read(one, json_find_named(specs, name));
                if (c.kind == CONTAINER_TERMINATED && c.exit_code != 0)
                        describe_failed_container(d, &c, name && strcmp(name, container) == 0, is_init);
        }
}

static void describe_deleted_pod(struct driver_diagnosis *d, const json_t *pod)
{
        const json_t *metadata = json_object_get(pod, "metadata");
        const json_t *disruption = pod_condition_find(json_object_get(pod, "status"), "DisruptionTarget", "True");
        const char *name = json_text_at(metadata, "name"), *namespace = json_text_at(metadata, "namespace");
        buf_puts(&d->text, "It was deleted before it ended, and its log with it");
        if (disruption) {
                sentence_begin(&d->text);
                reason_append(&d->text, json_text_at(disruption, "reason"), json_text_at(disruption, "message"));
        }
        if (name && namespace)
                buf_printf(&d->text,
                           ". kubectl get events --namespace=%s --field-selector=involvedObject.name=%s shows its "
                           "events of the last hour",
                           namespace, name);
}

static void describe_evicted_pod(struct driver_diagnosis *d, const char *message)
{
        reason_append(&d->text, "Its node evicted it", message);
        buf_puts(&d->text, ". Its log went with its containers. ");
        if (message && strstr(message, "ephemeral"))
                buf_puts(&d->text, "Give the driver a volume for spark.local.dir (spark.kubernetes.driver.volumes.*."
                                   "spark-local-dir-1.*), or request ephemeral storage in the pod template");
        else
                buf_puts(&d->text, "Request the memory that the driver uses: raise spark.driver.memory or "
                                   "spark.driver.memoryOverhead");
}

bool driver_pod_is_deleted(const json_t *pod)
{
        return json_at(pod, "metadata.deletionTimestamp") != NULL;
}

void driver_diagnosis_init(struct driver_diagnosis *d, const json_t *pod, const char *container, bool gone)
{
        const json_t *status = json_object_get(pod, "status");
        const char *reason = json_text_at(status, "reason"), *message = json_text_at(status, "message");
        *d = (struct driver_diagnosis){.text = BUF_INIT};
        if (strcmp(pod_text_phase(pod), "Succeeded") == 0)
                return;
        if (reason && strcmp(reason, "Evicted") == 0) {
                describe_evicted_pod(d, message);
                return;
        }
        if (gone || driver_pod_is_deleted(pod)) {
                describe_deleted_pod(d, pod);
                return;
        }
        reason_append(&d->text, reason, message);
        describe_failed_containers(d, pod, container, true);
        describe_failed_containers(d, pod, container, false);
}

void driver_diagnosis_deinit(struct driver_diagnosis *d)
{
        buf_deinit(&d->text);
}
