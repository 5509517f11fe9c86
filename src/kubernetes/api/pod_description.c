/* Describes pods for people. */
#include "kubernetes/api/pod_description.h"

#include "base/mem.h"
#include "text/json.h"

#include <stdio.h>

#define INDENT_POD "\t"
#define INDENT_CONTAINER "\t\t"

static void pod_description_put(struct buf *out, const char *indent, const char *name, const char *value)
{
        buf_printf(out, "\n%s %s: %s", indent, name, value && *value ? value : "N/A");
}

void pod_text_container(const struct pod_container *c, const char *indent, struct buf *out)
{
        static const char *const kinds[] = {[CONTAINER_RUNNING] = "running",
                                            [CONTAINER_WAITING] = "waiting",
                                            [CONTAINER_TERMINATED] = "terminated"};
        char code[16];
        pod_description_put(out, indent, "container name", c->name);
        pod_description_put(out, indent, "container image", c->image);
        pod_description_put(out, indent, "container state", kinds[c->kind]);
        if (c->kind == CONTAINER_WAITING)
                pod_description_put(out, indent, "pending reason", c->reason);
        if (c->kind == CONTAINER_RUNNING || c->kind == CONTAINER_TERMINATED)
                pod_description_put(out, indent, "container started at", c->started);
        if (c->kind != CONTAINER_TERMINATED)
                return;
        snprintf(code, sizeof(code), "%d", c->exit_code);
        pod_description_put(out, indent, "container finished at", c->finished);
        pod_description_put(out, indent, "exit code", code);
        pod_description_put(out, indent, "termination reason", c->reason);
}

void pod_text_containers(const json_t *pod, const char *indent, struct buf *out)
{
        const json_t *statuses = json_at(pod, "status.containerStatuses"), *status;
        size_t i;
        json_array_foreach((json_t *)statuses, i, status) {
                struct pod_container c = pod_container_read(status, NULL);
                if (i > 0)
                        buf_puts(out, "\n\n");
                pod_text_container(&c, indent, out);
        }
}

static void put_joined(struct buf *out, const char *name, struct buf *parts)
{
        pod_description_put(out, INDENT_POD, name, buf_text(parts));
        buf_reset(parts);
}

void pod_text_state(const json_t *pod, struct buf *out)
{
        const json_t *metadata = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
        const json_t *status = json_object_get(pod, "status"), *value;
        _cleanup_(buf_deinit) struct buf parts = BUF_INIT;
        const char *key;
        size_t i;
        pod_description_put(out, INDENT_POD, "pod name", json_text_at(metadata, "name"));
        pod_description_put(out, INDENT_POD, "namespace", json_text_at(metadata, "namespace"));
        json_object_foreach(json_object_get(metadata, "labels"), key, value)
                buf_printf(&parts, "%s%s -> %s", parts.len ? ", " : "", key, json_string_value(value));
        put_joined(out, "labels", &parts);
        pod_description_put(out, INDENT_POD, "pod uid", json_text_at(metadata, "uid"));
        pod_description_put(out, INDENT_POD, "creation time", json_text_at(metadata, "creationTimestamp"));
        pod_description_put(out, INDENT_POD, "service account name", json_text_at(spec, "serviceAccountName"));
        json_array_foreach(json_object_get(spec, "volumes"), i, value)
                buf_printf(&parts, "%s%s", parts.len ? ", " : "", json_text_at(value, "name"));
        put_joined(out, "volumes", &parts);
        pod_description_put(out, INDENT_POD, "node name", json_text_at(spec, "nodeName"));
        pod_description_put(out, INDENT_POD, "start time", json_text_at(status, "startTime"));
        pod_description_put(out, INDENT_POD, "phase", json_text_at(status, "phase"));
        pod_text_containers(pod, INDENT_CONTAINER, &parts);
        put_joined(out, "container status", &parts);
}

const char *pod_text_phase(const json_t *pod)
{
        const char *phase = json_text_at(json_object_get(pod, "status"), "phase");
        return phase ? phase : "unknown";
}
