/* Reads pods for the core. */
#include "operator/core/pod_observation.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_state.h"
#include "operator/resources/spark_application.h"
#include "text/json.h"

#include <stdlib.h>

static const char *pod_label(const json_t *pod, const char *name)
{
        return json_string_value(json_object_get(json_at(pod, "metadata.labels"), name));
}

static enum spark_pod_state pod_phase_read(const char *phase)
{
        static const struct {
                const char *phase;
                enum spark_pod_state state;
        } phases[] = {{"Pending", SPARK_POD_PENDING},
                      {"Running", SPARK_POD_RUNNING},
                      {"Succeeded", SPARK_POD_COMPLETED},
                      {"Failed", SPARK_POD_FAILED}};
        for (size_t i = 0; phase && i < ARRAY_SIZE(phases); i++)
                if (strcmp(phases[i].phase, phase) == 0)
                        return phases[i].state;
        return phase ? SPARK_POD_UNKNOWN : SPARK_POD_PENDING;
}

static const json_t *pod_spark_status(const json_t *pod, bool driver)
{
        static const char *const names[] = {"spark-kubernetes-driver", "executor", KUBE_EXECUTOR_CONTAINER};
        const json_t *statuses = json_at(pod, "status.containerStatuses");
        for (size_t i = driver ? 0 : 1; i < (driver ? 1 : ARRAY_SIZE(names)); i++) {
                const json_t *found = json_find_named(statuses, names[i]);
                if (found)
                        return found;
        }
        return json_array_size(statuses) == 1 ? json_array_get(statuses, 0) : NULL;
}

/* The container decides once it has ended, even if sidecars run. */
static void pod_read_container(const json_t *pod, struct pod_observation *out)
{
        const json_t *status = pod_spark_status(pod, out->is_driver);
        out->has_status = status != NULL;
        const json_t *ended = json_at(status, "state.terminated");
        if (!ended)
                return;
        out->terminated = true;
        out->exit_code = (int)json_int_at(ended, "exitCode");
        out->reason = json_text_at(ended, "reason");
        out->phase = out->exit_code == 0 ? SPARK_POD_COMPLETED : SPARK_POD_FAILED;
}

static void pod_read_loss(const json_t *pod, struct pod_observation *out)
{
        static const struct {
                const char *reason;
                enum pod_loss loss;
        } losses[] = {
                {"PreemptionByScheduler", POD_LOSS_PREEMPTED},
                {"PreemptionByKubeScheduler", POD_LOSS_PREEMPTED},
                {"EvictionByEvictionAPI", POD_LOSS_EVICTED},
                {"TerminationByKubelet", POD_LOSS_EVICTED},
                {"DeletionByTaintManager", POD_LOSS_NODE},
                {"DeletionByPodGC", POD_LOSS_NODE},
                {"Evicted", POD_LOSS_EVICTED},
                {"Preempting", POD_LOSS_PREEMPTED},
                {"NodeLost", POD_LOSS_NODE},
                {"NodeShutdown", POD_LOSS_NODE},
                {"Terminated", POD_LOSS_NODE},
                {"Shutdown", POD_LOSS_NODE},
        };
        const json_t *condition = pod_condition_find(json_object_get(pod, "status"), "DisruptionTarget", "True");
        const char *reasons[] = {json_text_at(condition, "reason"), json_text_at(pod, "status.reason")};
        const char *messages[] = {json_text_at(condition, "message"), json_text_at(pod, "status.message")};
        for (size_t k = 0; k < ARRAY_SIZE(reasons); k++)
                for (size_t i = 0; reasons[k] && out->loss == POD_LOSS_NONE && i < ARRAY_SIZE(losses); i++)
                        if (strcmp(losses[i].reason, reasons[k]) == 0) {
                                out->loss = losses[i].loss;
                                out->loss_message = messages[k] ? messages[k] : reasons[k];
                        }
}

static void pod_read_owner(const json_t *pod, struct pod_observation *out)
{
        json_t *owner;
        size_t i;
        json_array_foreach(json_at(pod, "metadata.ownerReferences"), i, owner) {
                if (text_equals(json_text_at(owner, "kind"), "SparkApplication"))
                        out->owner_uid = json_text_at(owner, "uid");
        }
}

bool pod_observation_read(const json_t *pod, struct pod_observation *out)
{
        const char *role = pod_label(pod, KUBE_LABEL_ROLE), *application = pod_label(pod, LABEL_APP_NAME);
        const char *name = json_text_at(pod, "metadata.name"), *namespace = json_text_at(pod, "metadata.namespace");
        const char *version = json_text_at(pod, "metadata.resourceVersion");
        if (!role || !application || !*application || !name || !namespace)
                return false;
        const char *hash =
                json_string_value(json_object_get(json_at(pod, "metadata.annotations"), ANNOTATION_SPEC_HASH));
        const struct pod_wait wait = pod_wait_read(json_object_get(pod, "status"));
        *out = (struct pod_observation){
                .namespace = namespace,
                .name = name,
                .uid = json_text_at(pod, "metadata.uid"),
                .application = application,
                .submission_id = pod_label(pod, LABEL_SUBMISSION_ID),
                .application_id = pod_label(pod, KUBE_LABEL_APP_ID),
                .is_driver = strcmp(role, "driver") == 0,
                .leaving = json_at(pod, "metadata.deletionTimestamp") != NULL,
                .phase = pod_phase_read(json_text_at(pod, "status.phase")),
                .message = json_text_at(pod, "status.message"),
                .waiting = wait.reason,
                .waiting_message = wait.message,
                .spec_hash = hash ? strtoull(hash, NULL, 16) : 0,
                .created_ms = pod_time_read(json_text_at(pod, "metadata.creationTimestamp")),
                .version = version ? strtoull(version, NULL, 10) : 0,
        };
        if (!out->is_driver && strcmp(role, "executor") != 0)
                return false;
        pod_read_owner(pod, out);
        pod_read_container(pod, out);
        pod_read_loss(pod, out);
        return true;
}
