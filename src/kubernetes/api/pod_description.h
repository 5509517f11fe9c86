/* Pods as Spark tells people of them: its KubernetesUtils.formatPodState and containersDescription. */
#pragma once

#include "base/buf.h"
#include "kubernetes/api/pod_state.h"

#include <jansson.h>

/* "\n\t pod name: x\n\t namespace: …": a line for each thing, "N/A" for what the server does not say. */
void pod_text_state(const json_t *pod, struct buf *out);

/* A container, or all of a pod: a block of lines each, of which each begins with @indent and a blank. */
void pod_text_container(const struct pod_container *container, const char *indent, struct buf *out);
void pod_text_containers(const json_t *pod, const char *indent, struct buf *out);

/* status.phase, "unknown" without. Borrowed from @pod, which may be NULL. */
const char *pod_text_phase(const json_t *pod);
