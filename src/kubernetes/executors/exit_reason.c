/*
 * Explains why executor pods ended. Spark's sentences (exitReasonMessage, describeExitCode, containersDescription) stay
 * unchanged, because people and programs know them. The explanation follows the first one.
 *
 * Differs from Spark in the blame: a pod that was displaced (preempted, or its node drained, shut down, lost or full
 * when it arrived) did not fail because of the application, so its tasks' failures do not count against the
 * application.
 */
#include "kubernetes/executors/exit_reason.h"

#include "base/mem.h"
#include "kubernetes/api/pod_description.h"
#include "kubernetes/api/kube_names.h"

#include <stdio.h>
#include <string.h>

#define MORE_MEMORY                                                                                                    \
        "Raise spark.executor.memoryOverhead or spark.executor.memory, or run fewer tasks at a time (spark.executor."  \
        "cores)."

#define EXIT_CODE_OUT_OF_MEMORY 52 /* Spark: SparkExitCode.OOM */

const char *exit_code_describe(int code, char *text, size_t size)
{
        const char *words = "(unexpected)";

        switch (code) {
        case 0:
                words = "(success)";
                break;
        case 1:
                words = "(generic, look at logs to clarify)";
                break;
        case 42:
                words = "(Douglas Adams fan)";
                break;
        case 10:
        case 50:
                words = "(Uncaught exception)";
                break;
        case EXIT_CODE_OUT_OF_MEMORY:
                words = "(JVM OOM)";
                break;
        case 53:
                words = "(DiskStore failed to create temp dir)";
                break;
        case 126:
                words = "(not executable - possibly perm or arch)";
                break;
        case 137:
                words = "(SIGKILL, possible container OOM)";
                break;
        case 139:
                words = "(SIGSEGV: that's unexpected)";
                break;
        case 255:
                words = "(exit-1, your guess is as good as mine)";
                break;
        }
        snprintf(text, size, "%d%s", code, words);
        return text;
}

static void describe_containers(const struct pod_state *pod, struct buf *out)
{
        for (int i = 0; i < pod->n_containers; i++) {
                if (i)
                        buf_puts(out, "\n\n");
                pod_text_container(&pod->containers[i], "\t", out);
        }
}

/* ----------------------------------------------------------------------------------------------------- explanations */

static bool is_one_of(const char *text, const char *const *words, size_t n)
{
        for (size_t i = 0; text && i < n; i++)
                if (strcmp(text, words[i]) == 0)
                        return true;
        return false;
}
#define ONE_OF(text, ...)                                                                                              \
        is_one_of(text, (const char *const[]){__VA_ARGS__}, ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

static const struct pod_container *ended_for(const struct pod_state *pod, const char *reason)
{
        for (int i = 0; i < pod->n_containers; i++) {
                const struct pod_container *c = &pod->containers[i];
                if (c->kind == CONTAINER_TERMINATED && c->reason && strcmp(c->reason, reason) == 0)
                        return c;
        }
        return NULL;
}

static const char *node_of(const struct pod_state *pod)
{
        return pod->node ? pod->node : "(unknown)";
}

/* Appends a server's sentence without its full stop. */
static void put_sentence(struct buf *out, const char *text)
{
        size_t n = text ? strlen(text) : 0;

        while (n > 0 && strchr(". \n", text[n - 1]))
                n--;
        buf_append(out, text ? text : "", n);
}

static void explain_out_of_memory(const struct pod_state *pod, const struct pod_container *c, const char *spark,
                                  struct buf *out)
{
        buf_printf(out, "its container %s on node %s ", c->name ? c->name : "", node_of(pod));
        if (c->memory_limit)
                buf_printf(out, "used more memory than its limit of %s and was killed (OOMKilled). ", c->memory_limit);
        else
                buf_puts(out, "was killed because the node had no memory left, and it has no limit of its own "
                              "(OOMKilled). ");
        if (!c->name || strcmp(c->name, spark) == 0)
                buf_puts(out, MORE_MEMORY);
        else
                buf_puts(
                        out,
                        "Raise that container's limit where it is defined: in the pod template, or in the component that "
                        "injects it.");
}

static void explain_eviction(const struct pod_state *pod, struct buf *out)
{
        buf_printf(out, "node %s evicted it because the node ran short of a resource: ", node_of(pod));
        put_sentence(out, pod->message ? pod->message : "the server does not name it");
        if (pod->message && strstr(pod->message, "ephemeral"))
                buf_puts(out, ". Give executors a volume for spark.local.dir (spark.kubernetes.executor.volumes.*."
                              "spark-local-dir-1.*), or request ephemeral storage in the pod template.");
        else
                buf_puts(out, ". Let the executor's requests cover its usage: see spark.executor.memory and "
                              "spark.executor.memoryOverhead.");
}

/* Explains a displacement, with the remedy. Returns false if the pod was not displaced. */
static bool explain_disruption(const struct pod_state *pod, struct buf *out)
{
        if (ONE_OF(pod->disruption, "PreemptionByScheduler", "PreemptionByKubeScheduler") ||
            ONE_OF(pod->reason, "Preempting", "Preempted"))
                buf_puts(out, "it was preempted: pods of a higher priority needed its place. Give executors a priority "
                              "class (priorityClassName in spark.kubernetes.executor.podTemplateFile) to prevent "
                              "this.");
        else if (ONE_OF(pod->disruption, "DeletionByTaintManager", "DeletionByPodGC") ||
                 ONE_OF(pod->reason, "NodeLost"))
                buf_printf(out,
                           "node %s was lost: the cluster has no contact with it. The executor is replaced, and "
                           "its results are computed again.",
                           node_of(pod));
        else if (ONE_OF(pod->reason, "NodeShutdown", "Shutdown") ||
                 (ONE_OF(pod->reason, "Terminated") && pod->message && strstr(pod->message, "node shutdown")))
                buf_printf(out,
                           "node %s shut down. With spark.decommission.enabled=true executors move their blocks away "
                           "before that.",
                           node_of(pod));
        else if (ONE_OF(pod->disruption, "EvictionByEvictionAPI"))
                buf_printf(out,
                           "node %s was drained, or another client evicted the pod. With "
                           "spark.decommission.enabled=true executors move their blocks away before that.",
                           node_of(pod));
        else if (ONE_OF(pod->reason, "OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage", "NodeAffinity",
                        "UnexpectedAdmissionError", "TopologyAffinityError"))
                buf_printf(out, "node %s had no room for it when it arrived (%s). The executor is replaced.",
                           node_of(pod), pod->reason);
        else
                return false;
        return true;
}

static void explain_code(int code, struct buf *out)
{
        switch (code) {
        case EXIT_CODE_OUT_OF_MEMORY:
                buf_puts(out,
                         "the executor itself ran out of memory. Raise spark.executor.memory, or cut the data into "
                         "more partitions.");
                break;
        case 53:
                buf_puts(out, "it could not write to its local directories: the volume of spark.local.dir is full "
                              "or read-only.");
                break;
        case 126:
        case 127:
        case 128:
                buf_puts(out, "its program could not be started: check that the image (spark.kubernetes.executor."
                              "container.image) is made for executors, and for the node's architecture.");
                break;
        case 137:
                buf_puts(out, "it was killed (SIGKILL) within its own memory limit: its node was short of "
                              "memory, or it did not exit in time after SIGTERM.");
                break;
        case 143:
                buf_puts(out, "it received SIGTERM: its pod was deleted, or its node is being drained.");
                break;
        default:
                buf_puts(out, "see the last lines of its log.");
                break;
        }
}

/* Returns whether the application caused the failure. */
static bool explain_failure(const struct pod_state *pod, const char *spark, int code, struct buf *out)
{
        const struct pod_container *oom = ended_for(pod, "OOMKilled");

        buf_printf(out, "Pod %s: ", pod->name);
        if (oom) {
                explain_out_of_memory(pod, oom, spark, out);
                return true;
        }
        if (explain_disruption(pod, out))
                return false;
        if (ONE_OF(pod->reason, "Evicted"))
                explain_eviction(pod, out);
        else if (ONE_OF(pod->reason, "DeadlineExceeded"))
                buf_puts(out, "it ran for longer than its activeDeadlineSeconds allows, which the pod template or a "
                              "rule of the cluster has set.");
        else if (ended_for(pod, "StartError") || ended_for(pod, "ContainerCannotRun"))
                explain_code(126, out);
        else
                explain_code(code, out);
        return true;
}

static char *failure_message(const struct pod_state *pod, const char *spark, int code, bool requested,
                             bool *caused_by_app)
{
        struct buf out = BUF_INIT;
        char text[64];

        buf_printf(&out, "\nThe executor with id %d exited with exit code %s. ", pod->id,
                   exit_code_describe(code, text, sizeof(text)));
        if (code == 0 && pod->kind == POD_SUCCEEDED)
                buf_printf(&out, "Pod %s: %s.", pod->name,
                           requested ? "the driver requested its exit" : "it exited by itself");
        else
                *caused_by_app = explain_failure(pod, spark, code, &out);
        buf_puts(&out, "\n");
        if (pod->reason)
                buf_printf(&out, "The API gave the following brief reason: %s", pod->reason);
        buf_puts(&out, "\n");
        if (pod->message)
                buf_printf(&out, "The API gave the following message: %s", pod->message);
        buf_puts(&out, "\n\nThe API gave the following container statuses:\n\n");
        describe_containers(pod, &out);
        buf_puts(&out, "\n      ");
        return buf_steal(&out);
}

struct exit_reason exit_reason_of(const struct pod_state *pod, const struct pod_rules *rules, bool requested)
{
        const char *spark = rules->container ? rules->container : KUBE_EXECUTOR_CONTAINER;
        struct exit_reason r = {.code = pod->ended ? pod->exit_code : EXIT_CODE_UNKNOWN,
                                .caused_by_app = pod->kind != POD_DELETED};

        if (pod->kind == POD_DELETED) {
                struct buf out = BUF_INIT;
                buf_printf(&out, "The executor with id %d was deleted by a user or the framework.", pod->id);
                size_t before = out.len;
                buf_printf(&out, " Pod %s: ", pod->name);
                if (!explain_disruption(pod, &out))
                        buf_truncate(&out, before);
                r.message = buf_steal(&out);
        } else
                r.message = failure_message(pod, spark, r.code, requested, &r.caused_by_app);
        /* The message does not suffice: Spark's text for exit code 137 mentions OOM, for any sender of the SIGKILL. */
        r.out_of_memory =
                pod->kind != POD_DELETED && (ended_for(pod, "OOMKilled") || r.code == EXIT_CODE_OUT_OF_MEMORY);
        return r;
}

void exit_reason_deinit(struct exit_reason *reason)
{
        free(steal(reason->message));
}

/* -------------------------------------------------------------------------------------------------- waiting pods */

/* @role: "driver" or "executor", as in the keys. */
static void advise_waiting_pod(const char *reason, const char *message, const char *role, struct buf *out)
{
        bool unschedulable = strcmp(reason, "Unschedulable") == 0;
        if (unschedulable && message && strcasestr(message, "persistentvolumeclaim"))
                buf_puts(out, " A claim that it mounts is not bound yet: kubectl describe persistentvolumeclaims shows "
                              "why.");
        else if (unschedulable)
                buf_printf(out,
                           " %s requests spark.%s.cores (or spark.kubernetes.%s.request.cores), spark.%s.memory and "
                           "spark.%s.memoryOverhead on one node: request less, or add nodes.",
                           strcmp(role, "driver") == 0 ? "The driver" : "An executor", role, role, role, role);
        else if (strcmp(reason, "SchedulingGated") == 0)
                buf_puts(out, " A scheduling gate holds it until the gate's owner removes it.");
        else if (ONE_OF(reason, "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName",
                        "RegistryUnavailable", "ImageInspectError"))
                buf_printf(out,
                           " Check the image's name (spark.kubernetes.%s.container.image, else spark.kubernetes."
                           "container.image), spark.kubernetes.container.image.pullSecrets, and that the nodes reach "
                           "the registry.",
                           role);
        else if (strcmp(reason, "CreateContainerConfigError") == 0)
                buf_printf(out,
                           " Check that its config maps and secrets exist: spark.kubernetes.%s.secrets.*, "
                           "spark.kubernetes.%s.secretKeyRef.*, the pod template.",
                           role, role);
        else if (ONE_OF(reason, "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError"))
                buf_printf(out,
                           " Check the image's entry point, and the volumes that it mounts (spark.kubernetes.%s."
                           "volumes.*).",
                           role);
        else if (strcmp(reason, "CrashLoopBackOff") == 0)
                buf_puts(out, " This container exits repeatedly. Its log has the reason (kubectl logs -c).");
}

bool pod_wait_describe(const struct pod_wait *wait, const char *role, struct buf *out)
{
        if (!wait->reason)
                return false;
        if (wait->container)
                buf_printf(out, "container %s: ", wait->container);
        buf_puts(out, wait->reason);
        if (wait->message) {
                buf_puts(out, ": ");
                put_sentence(out, wait->message);
        }
        buf_puts(out, ".");
        advise_waiting_pod(wait->reason, wait->message, role, out);
        return true;
}

bool waiting_reason_describe(const struct pod_state *pod, struct buf *out)
{
        return pod_wait_describe(&(struct pod_wait){pod->waiting, pod->waiting_message, pod->waiting_container},
                                 "executor", out);
}
