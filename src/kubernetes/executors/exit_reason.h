/*
 * Why an executor's pod ended, or waits, in words for a person: which pod, which limit, what to do. The first sentences
 * are Spark's (ExecutorPodsLifecycleManager); what they mean, and the key that helps, comes after them.
 */
#pragma once

#include "base/buf.h"
#include "kubernetes/api/pod_state.h"

#define EXIT_CODE_UNKNOWN (-1)

struct exit_reason {
        int code;           /* of the Spark container; EXIT_CODE_UNKNOWN */
        bool caused_by_app; /* false: its tasks' failures do not count against the application */
        bool out_of_memory; /* a container was OOMKilled, or the executor said so by its exit code */
        char *message;      /* owned */
};

/* Of a pod whose kind is final. @rules as it was read by. @requested: the driver has asked the executor to end. */
struct exit_reason exit_reason_of(const struct pod_state *pod, const struct pod_rules *rules, bool requested);
void exit_reason_deinit(struct exit_reason *reason);

/* "137(SIGKILL, possible container OOM)". @text holds @size bytes and is what is returned. */
const char *exit_code_describe(int code, char *text, size_t size);

/*
 * Why a pod waits and what to do: "ImagePullBackOff: Back-off pulling image …. Check spark.kubernetes.…". Nothing is
 * written, and false returned, if it does not wait for a reason. @role, "driver" or "executor", is whose keys are
 * named.
 */
bool pod_wait_describe(const struct pod_wait *wait, const char *role, struct buf *out);
bool waiting_reason_describe(const struct pod_state *executor, struct buf *out);
