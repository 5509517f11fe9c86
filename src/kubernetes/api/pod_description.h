/* Describes pods for people, as Spark's KubernetesUtils.formatPodState and containersDescription. */
#pragma once

#include "base/buf.h"
#include "kubernetes/api/pod_state.h"

#include <jansson.h>

/* Returns "\n\t pod name: x\n\t namespace: …": one line per field, "N/A" for absent ones. */
void pod_text_state(const json_t *pod, struct buf *out);

/* Appends a block of lines for one container, or for all of a pod. Each line begins with @indent and a blank. */
void pod_text_container(const struct pod_container *container, const char *indent, struct buf *out);
void pod_text_containers(const json_t *pod, const char *indent, struct buf *out);

/* Returns status.phase, or "unknown" without one. Borrowed from @pod, which may be NULL. */
const char *pod_text_phase(const json_t *pod);
