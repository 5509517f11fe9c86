/* For tests: one application of spark.apache.org, its pods as an API server has them, and its core. */
#pragma once

#include "base/string_prefix.h"
#include "kubernetes/pods/spark_pod.h"
#include "operator/apache/apache_fixture.h"
#include "operator/apache/apache_reading.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>

#define APACHE_START INT64_C(1795852800000)
#define APACHE_EXECUTORS 4

struct apache_server {
        struct apache_core *core;
        json_t *object; /* NULL: deleted */
        json_t *driver; /* its pod, or NULL */
        json_t *gone;   /* a driver's pod whose removal the watch has not shown, or NULL */
        json_t *executors[APACHE_EXECUTORS];
        uint64_t *version; /* of the whole server */
        uint64_t own_version;
        int64_t now;
        int submissions, pods;
        bool refuses; /* it refuses submissions */
};

static inline void apache_server_touch(struct apache_server *s, json_t *object)
{
        _cleanup_free_ char *version = mem_printf("%llu", (unsigned long long)++*s->version);
        json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string(version));
}

static inline void apache_server_init(struct apache_server *s, struct apache_core *core, const char *name,
                                      const char *more)
{
        *s = (struct apache_server){.core = core, .object = apache_fixture_object(more), .now = APACHE_START};
        json_t *metadata = json_object_get(s->object, "metadata");
        s->version = &s->own_version;
        json_object_set_new(metadata, "name", json_string(name));
        json_object_set_new(metadata, "uid", json_string(name));
        apache_server_touch(s, s->object);
}

static inline void apache_server_deinit(struct apache_server *s)
{
        json_decref(s->object);
        json_decref(s->driver);
        json_decref(s->gone);
        for (int i = 0; i < APACHE_EXECUTORS; i++)
                json_decref(s->executors[i]);
}

static inline const char *apache_server_name(const struct apache_server *s)
{
        return json_text_at(s->object, "metadata.name");
}

static inline const char *apache_server_state(const struct apache_server *s)
{
        return json_text_or_empty(s->object, "status.currentState.currentStateSummary");
}

/* ------------------------------------------------------------------------------------------------------------- patch
 */

/* Returns the parent of @path, "/status/x/3", and its last name. */
static inline json_t *apache_patch_parent(json_t *object, const char *path, const char **last)
{
        while (*path == '/') {
                const char *end = strchr(path + 1, '/');
                if (!end)
                        break;
                _cleanup_free_ char *name = mem_strndup(path + 1, (size_t)(end - path - 1));
                object = json_object_get(object, name);
                path = end;
        }
        *last = path + 1;
        return object;
}

/* Applies a JSON patch: add, copy, and replace of the present version. Returns false for another version. */
static inline bool apache_patch_apply(json_t *object, const json_t *patch)
{
        json_t *operation;
        size_t i;
        json_array_foreach((json_t *)patch, i, operation) {
                const char *last, *kind = json_text_at(operation, "op");
                json_t *parent = apache_patch_parent(object, json_text_at(operation, "path"), &last);
                json_t *value = json_object_get(operation, "value");
                assert_true(json_is_object(parent));
                if (strcmp(kind, "replace") == 0) { /* of the resourceVersion */
                        if (!json_equal(json_object_get(parent, last), value))
                                return false;
                } else if (strcmp(kind, "add") == 0) {
                        json_object_set_new(parent, last, json_deep_copy(value));
                } else {
                        assert_string_equal(kind, "copy");
                        const char *name;
                        const json_t *from = apache_patch_parent(object, json_text_at(operation, "from"), &name);
                        assert_non_null(json_object_get(from, name));
                        json_object_set_new(parent, last, json_deep_copy(json_object_get(from, name)));
                }
        }
        return true;
}

/* -------------------------------------------------------------------------------------------------------------- pods
 */

static inline json_t *apache_server_new_pod(struct apache_server *s, const char *role, const char *name,
                                            const char *app_id)
{
        _cleanup_free_ char *uid = mem_printf("%s-%d", name, ++s->pods);
        json_t *pod = json_pack("{s:{s:s,s:s,s:s,s:{s:s,s:s,s:s}},s:{s:s}}", "metadata", "name", name, "namespace",
                                "jobs", "uid", uid, "labels", "spark.operator/spark-app-name", apache_server_name(s),
                                "spark-role", role, "spark-app-selector", app_id, "status", "phase", "Pending");
        apache_server_touch(s, pod);
        return pod;
}

/* Replaces the pod's status by @status with ' for ". */
static inline void apache_server_set_status(struct apache_server *s, json_t *pod, const char *status)
{
        json_object_set_new(pod, "status", fixture_json(status));
        apache_server_touch(s, pod);
}

#define POD_STARTED "{'phase': 'Running', 'containerStatuses': [{'name': 'spark-kubernetes-driver', 'ready': true}]}"
#define POD_READY                                                                                                      \
        "{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}],"                                    \
        "'containerStatuses': [{'name': 'spark-kubernetes-driver', 'ready': true}]}"
#define POD_ENDED(code)                                                                                                \
        "{'phase': 'Running', 'containerStatuses': [{'name': 'spark-kubernetes-driver',"                               \
        "'state': {'terminated': {'exitCode': " #code "}}}]}"
#define POD_EVICTED "{'phase': 'Failed', 'reason': 'Evicted', 'message': 'the node was low on memory'}"

static inline void apache_server_set_executors(struct apache_server *s, int n)
{
        for (int i = 0; i < APACHE_EXECUTORS; i++) {
                _cleanup_free_ char *name = mem_printf("%s-exec-%d", apache_server_name(s), i);
                if (i < n && !s->executors[i]) {
                        s->executors[i] = apache_server_new_pod(
                                s, "executor", name, json_text_at(s->driver, "metadata.labels.spark-app-selector"));
                        apache_server_set_status(s, s->executors[i], POD_READY);
                } else if (i >= n && s->executors[i]) {
                        json_decref(steal(s->executors[i]));
                        apache_core_pod_removed(s->core, "jobs", name, NULL);
                }
        }
}

/* Shows that the pod which is gone was removed. */
static inline void apache_server_tell_gone(struct apache_server *s)
{
        json_t *gone = steal(s->gone);
        if (gone)
                apache_core_pod_removed(s->core, "jobs", json_text_at(gone, "metadata.name"),
                                        json_text_at(gone, "metadata.uid"));
        json_decref(gone);
}

/* The driver's pod goes, and its executors with it. */
static inline void apache_server_drop_driver(struct apache_server *s, bool tell)
{
        apache_server_tell_gone(s);
        s->gone = steal(s->driver);
        if (tell)
                apache_server_tell_gone(s);
        if (s->object)
                apache_server_set_executors(s, 0);
}

/* ---------------------------------------------------------------------------------------------------------- watches */

static inline void apache_server_show_pod(struct apache_server *s, const json_t *pod)
{
        struct apache_pod p;
        if (pod && apache_pod_read(pod, &p))
                apache_core_observe_pod(s->core, &p);
}

/* Shows everything to the core, pods first. */
static inline void apache_server_show(struct apache_server *s)
{
        struct apache_reading reading;
        apache_server_tell_gone(s);
        apache_server_show_pod(s, s->driver);
        for (int i = 0; i < APACHE_EXECUTORS; i++)
                apache_server_show_pod(s, s->executors[i]);
        if (!s->object)
                return;
        bool read = apache_reading_make(s->object, &reading);
        reading.observation.labels = "team=\"a\"";
        reading.observation.created_ms = APACHE_START - 5;
        if (read)
                apache_core_observe(s->core, &reading.observation);
        apache_reading_deinit(&reading);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static inline enum apache_result apache_server_submit(struct apache_server *s, const struct apache_action *a)
{
        if (!s->object)
                return APACHE_RESULT_NOT_FOUND;
        if (s->refuses)
                return APACHE_RESULT_FAILED;
        if (s->driver && strcmp(json_text_at(s->driver, "metadata.name"), a->driver_pod) == 0 &&
            !json_at(s->driver, "metadata.deletionTimestamp"))
                return strcmp(json_text_at(s->driver, "metadata.labels.spark-app-selector"), a->app_id) == 0
                               ? APACHE_RESULT_OK
                               : APACHE_RESULT_FAILED;
        if (s->driver)
                return APACHE_RESULT_RETRY; /* this server has room for one */
        s->driver = apache_server_new_pod(s, "driver", a->driver_pod, a->app_id);
        s->submissions++;
        return APACHE_RESULT_OK;
}

static inline enum apache_result apache_server_release(struct apache_server *s, const struct apache_action *a)
{
        if (!s->driver || (a->driver_uid && strcmp(json_text_at(s->driver, "metadata.uid"), a->driver_uid) != 0))
                return APACHE_RESULT_OK;
        if (a->force) {
                apache_server_drop_driver(s, true);
        } else if (!json_at(s->driver, "metadata.deletionTimestamp")) {
                json_object_set_new(json_object_get(s->driver, "metadata"), "deletionTimestamp", json_string("now"));
                apache_server_touch(s, s->driver);
        }
        return APACHE_RESULT_OK;
}

static inline enum apache_result apache_server_write(struct apache_server *s, const struct apache_action *a,
                                                     uint64_t *version)
{
        if (!s->object)
                return APACHE_RESULT_NOT_FOUND;
        json_t *patch = apache_status_patch(&a->from, &a->transition, a->version, json_object_get(s->driver, "status"));
        bool fits = apache_patch_apply(s->object, patch);
        json_decref(patch);
        if (!fits)
                return APACHE_RESULT_CONFLICT;
        apache_server_touch(s, s->object);
        *version = *s->version;
        return APACHE_RESULT_OK;
}

static inline enum apache_result apache_server_perform(struct apache_server *s, const struct apache_action *a,
                                                       uint64_t *version)
{
        switch (a->kind) {
        case APACHE_SUBMIT:
                return apache_server_submit(s, a);
        case APACHE_RELEASE:
                return apache_server_release(s, a);
        case APACHE_WRITE_STATUS:
                return apache_server_write(s, a, version);
        case APACHE_DELETE:
                json_decref(steal(s->object));
                apache_core_removed(s->core, a->namespace, a->name, a->uid);
                return APACHE_RESULT_OK;
        case APACHE_FIND_DRIVER:
                apache_server_show_pod(s, s->driver);
                return s->driver ? APACHE_RESULT_OK : APACHE_RESULT_NOT_FOUND;
        case APACHE_LET_GO:
                json_decref(steal(s->object));
                apache_core_removed(s->core, a->namespace, a->name, a->uid);
                return APACHE_RESULT_OK;
        case APACHE_EVENT:
        case APACHE_TRANSITION:
                break;
        }
        return APACHE_RESULT_OK;
}
