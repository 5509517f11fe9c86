/*
 * Explains why an executor's pod ended or waits: the pod, the limit, the remedy. The first sentences are Spark's
 * (ExecutorPodsLifecycleManager). Their meaning and the key that helps follow.
 */
#pragma once

#include "base/buf.h"
#include "kubernetes/api/pod_state.h"

#define EXIT_CODE_UNKNOWN (-1)

struct exit_reason {
        int code;           /* of the Spark container, or EXIT_CODE_UNKNOWN */
        bool caused_by_app; /* false: the failures of its tasks do not count against the application */
        bool out_of_memory; /* a container was OOMKilled, or the executor's exit code says so */
        char *message;      /* owned */
};

/*
 * Explains a pod in a final state. @rules: those with which it was read. @requested: the driver has asked the executor
 * to exit.
 */
struct exit_reason exit_reason_of(const struct pod_state *pod, const struct pod_rules *rules, bool requested);
void exit_reason_deinit(struct exit_reason *reason);

/* Writes "137(SIGKILL, possible container OOM)" to @text, which holds @size bytes, and returns @text. */
const char *exit_code_describe(int code, char *text, size_t size);

/*
 * Writes why a pod waits and the remedy: "ImagePullBackOff: Back-off pulling image …. Check spark.kubernetes.…".
 * Returns false and writes nothing if the pod waits without a reason. @role ("driver" or "executor") selects the keys
 * named.
 */
bool pod_wait_describe(const struct pod_wait *wait, const char *role, struct buf *out);
bool waiting_reason_describe(const struct pod_state *executor, struct buf *out);
