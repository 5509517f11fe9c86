/*
 * See driver_trouble.h. Spark shows the containers' states alone; an init container's is not among them, and what the
 * numbers mean is left to the reader.
 */
#include "kubernetes/driver/driver_diagnosis.h"

#include "base/mem.h"
#include "kubernetes/api/pod_state.h"
#include "kubernetes/api/pod_description.h"

#include <string.h>

static const char *text_at(const json_t *object, const char *key)
{
        return json_string_value(json_object_get(object, key));
}

static void begin(struct buf *out)
{
        if (out->len > 0)
                buf_puts(out, ". ");
}

static const json_t *spec_of(const json_t *pod, const char *list, const char *name)
{
        const json_t *all = json_object_get(json_object_get(pod, "spec"), list), *one;
        size_t i;
        json_array_foreach((json_t *)all, i, one) {
                const char *its = text_at(one, "name");
                if (name && its && strcmp(name, its) == 0)
                        return one;
        }
        return NULL;
}

static void describe(const json_t *pod, const struct pod_container *c, bool is_driver, bool init, struct buf *out)
{
        const json_t *metadata = json_object_get(pod, "metadata");
        begin(out);
        buf_printf(out, "%s %s ", init ? "Its init container" : "Its container", c->name ? c->name : "");
        if (c->reason && strcmp(c->reason, "OOMKilled") == 0) {
                if (c->memory_limit)
                        buf_printf(out, "used more memory than its limit of %s and was killed (OOMKilled)",
                                   c->memory_limit);
                else
                        buf_puts(out, "was killed because its node had no memory left (OOMKilled)");
                if (is_driver)
                        buf_puts(out, ". Raise spark.driver.memoryOverhead or spark.driver.memory");
                return;
        }
        buf_printf(out, "ended with exit code %d; its log says more: kubectl logs %s --namespace=%s --container=%s",
                   c->exit_code, text_at(metadata, "name"), text_at(metadata, "namespace"), c->name ? c->name : "");
}

static void describe_all(const json_t *pod, const char *container, bool init, struct buf *out)
{
        const json_t *status = json_object_get(pod, "status"), *one;
        const json_t *all = json_object_get(status, init ? "initContainerStatuses" : "containerStatuses");
        size_t i;
        json_array_foreach((json_t *)all, i, one) {
                const char *name = text_at(one, "name");
                struct pod_container c =
                        pod_container_read(one, spec_of(pod, init ? "initContainers" : "containers", name));
                if (c.kind == CONTAINER_TERMINATED && c.exit_code != 0)
                        describe(pod, &c, name && strcmp(name, container) == 0, init, out);
        }
}

void driver_trouble_describe(const json_t *pod, const char *container, struct buf *out)
{
        const json_t *status = json_object_get(pod, "status");
        const char *reason = text_at(status, "reason"), *message = text_at(status, "message");
        struct buf said = BUF_INIT;
        if (strcmp(pod_text_phase(pod), "Succeeded") == 0)
                return;
        if (reason || message)
                buf_printf(&said, "%s%s%s", reason ? reason : "", reason && message ? ": " : "",
                           message ? message : "");
        describe_all(pod, container, true, &said);
        describe_all(pod, container, false, &said);
        buf_append(out, buf_text(&said), said.len);
        buf_deinit(&said);
}
