/* Pods as the API server returns them, for tests of the executor core. */
#pragma once

#include "base/mem.h"
#include "kubernetes/api/pod_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define _cleanup_json_ _cleanup_(json_free)
static inline void json_free(json_t **j)
{
        json_decref(*j);
}

/* Parses JSON text that has ' in place of ". */
__attribute__((format(printf, 1, 2), unused)) static json_t *json_text(const char *format, ...)
{
        char *text = NULL;
        va_list args;
        json_error_t error;

        va_start(args, format);
        assert_true(vasprintf(&text, format, args) >= 0);
        va_end(args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        json_t *j = json_loads(text, 0, &error);
        if (!j)
                fail_msg("%s at %d: %s", error.text, error.position, text);
        free(text);
        return j;
}

/* Returns an executor's pod in a phase ("Pending", …), without other status. */
__attribute__((unused)) static json_t *pod_in(int id, int profile, const char *phase)
{
        return json_text("{'metadata': {'name': 'app-exec-%d', 'uid': 'uid-%d', 'labels': {'spark-exec-id': '%d',"
                         " 'spark-exec-resourceprofile-id': '%d', 'spark-app-selector': 'testapp'}},"
                         " 'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'spark-kubernetes-executor'}]},"
                         " 'status': {'phase': '%s'}}",
                         id, id, id, profile, phase);
}

/* Adds a deletion timestamp. */
__attribute__((unused)) static json_t *pod_leaving(json_t *pod)
{
        json_object_set_new(json_object_get(pod, "metadata"), "deletionTimestamp", json_string("2026-11-22T08:42:00Z"));
        return pod;
}

/* Sets the container statuses from text with ' in place of ". */
__attribute__((unused)) static json_t *pod_with_containers(json_t *pod, const char *text)
{
        json_object_set_new(json_object_get(pod, "status"), "containerStatuses", json_text("%s", text));
        return pod;
}

__attribute__((unused)) static json_t *pod_with_version(json_t *pod, int version)
{
        char text[24];

        snprintf(text, sizeof(text), "%d", version);
        json_object_set_new(json_object_get(pod, "metadata"), "resourceVersion", json_string(text));
        return pod;
}

/* A terminated Spark container and a sidecar that terminated too: Spark's failedExecutorWithoutDeletion. */
__attribute__((unused)) static json_t *pod_failed(int id, int profile)
{
        return pod_with_containers(
                pod_in(id, profile, "Failed"),
                "[{'name': 'spark-kubernetes-executor', 'image': 'k8s-spark', 'state': {'terminated': {'exitCode': 1,"
                " 'reason': 'Error', 'startedAt': '2026-11-22T08:40:00Z', 'finishedAt': '2026-11-22T08:41:00Z'}}},"
                " {'name': 'spark-executor-sidecar', 'image': 'k8s-spark-sidecar', 'state': {'terminated':"
                " {'exitCode': 1}}}]");
}
