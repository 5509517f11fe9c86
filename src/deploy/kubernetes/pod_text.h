/* A driver's pod as Spark tells people of it: its KubernetesUtils.formatPodState. */
#pragma once

#include "base/buf.h"

#include <jansson.h>

/* "\n\t pod name: x\n\t namespace: …": a line for each thing, "N/A" for what the server does not say. */
void pod_text_state(const json_t *pod, struct buf *out);

/* The containers alone, one block of lines each. */
void pod_text_containers(const json_t *pod, struct buf *out);

/* status.phase, "unknown" without. Borrowed from @pod, which may be NULL. */
const char *pod_text_phase(const json_t *pod);
