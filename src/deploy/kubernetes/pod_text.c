/* See pod_text.h. */
#include "deploy/kubernetes/pod_text.h"

#include "base/mem.h"

#include <string.h>

#define INDENT_POD "\n\t "
#define INDENT_CONTAINER "\n\t\t "

static const char *text_at(const json_t *object, const char *key)
{
        return json_string_value(json_object_get(object, key));
}

static void put(struct buf *out, const char *indent, const char *name, const char *value)
{
        buf_printf(out, "%s%s: %s", indent, name, value && *value ? value : "N/A");
}

static void put_container(const json_t *status, struct buf *out)
{
        static const char *const kinds[] = {"running", "waiting", "terminated"};
        const json_t *state = json_object_get(status, "state"), *found = NULL;
        const char *kind = NULL;
        put(out, INDENT_CONTAINER, "container name", text_at(status, "name"));
        put(out, INDENT_CONTAINER, "container image", text_at(status, "image"));
        for (size_t i = 0; i < ARRAY_SIZE(kinds) && !found; i++)
                if ((found = json_object_get(state, kinds[i])))
                        kind = kinds[i];
        put(out, INDENT_CONTAINER, "container state", kind);
        if (!kind)
                return;
        if (strcmp(kind, "waiting") == 0) {
                put(out, INDENT_CONTAINER, "pending reason", text_at(found, "reason"));
                return;
        }
        put(out, INDENT_CONTAINER, "container started at", text_at(found, "startedAt"));
        if (strcmp(kind, "terminated") != 0)
                return;
        put(out, INDENT_CONTAINER, "container finished at", text_at(found, "finishedAt"));
        buf_printf(out, INDENT_CONTAINER "exit code: %lld",
                   (long long)json_integer_value(json_object_get(found, "exitCode")));
        put(out, INDENT_CONTAINER, "termination reason", text_at(found, "reason"));
}

void pod_text_containers(const json_t *pod, struct buf *out)
{
        const json_t *statuses = json_object_get(json_object_get(pod, "status"), "containerStatuses"), *status;
        size_t i;
        json_array_foreach((json_t *)statuses, i, status) {
                if (i > 0)
                        buf_puts(out, "\n\n");
                put_container(status, out);
        }
}

static void put_joined(struct buf *out, const char *name, struct buf *parts)
{
        put(out, INDENT_POD, name, buf_text(parts));
        buf_reset(parts);
}

void pod_text_state(const json_t *pod, struct buf *out)
{
        const json_t *metadata = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
        const json_t *status = json_object_get(pod, "status"), *value;
        _cleanup_(buf_deinit) struct buf parts = BUF_INIT;
        const char *key;
        size_t i;
        put(out, INDENT_POD, "pod name", text_at(metadata, "name"));
        put(out, INDENT_POD, "namespace", text_at(metadata, "namespace"));
        json_object_foreach(json_object_get(metadata, "labels"), key, value)
                buf_printf(&parts, "%s%s -> %s", parts.len ? ", " : "", key, json_string_value(value));
        put_joined(out, "labels", &parts);
        put(out, INDENT_POD, "pod uid", text_at(metadata, "uid"));
        put(out, INDENT_POD, "creation time", text_at(metadata, "creationTimestamp"));
        put(out, INDENT_POD, "service account name", text_at(spec, "serviceAccountName"));
        json_array_foreach(json_object_get(spec, "volumes"), i, value)
                buf_printf(&parts, "%s%s", parts.len ? ", " : "", text_at(value, "name"));
        put_joined(out, "volumes", &parts);
        put(out, INDENT_POD, "node name", text_at(spec, "nodeName"));
        put(out, INDENT_POD, "start time", text_at(status, "startTime"));
        put(out, INDENT_POD, "phase", text_at(status, "phase"));
        pod_text_containers(pod, &parts);
        put_joined(out, "container status", &parts);
}

const char *pod_text_phase(const json_t *pod)
{
        const char *phase = text_at(json_object_get(pod, "status"), "phase");
        return phase ? phase : "unknown";
}
