/* Explains to a waiting client why a driver pod failed: the container, the limit, the remedy. */
#pragma once

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

struct driver_diagnosis {
        struct buf text;           /* sentences without the last full stop, "" for a pod that succeeded */
        const char *log_container; /* the container whose log has more, or NULL. Borrowed from the pod */
};

/*
 * Diagnoses @pod, whose container @container is the driver. @gone: the pod is deleted, and @pod is its last known
 * state, or NULL. Deinit afterwards.
 */
void driver_diagnosis_init(struct driver_diagnosis *d, const json_t *pod, const char *container, bool gone);
void driver_diagnosis_deinit(struct driver_diagnosis *d);

/* Whether a client has deleted the pod, which may be NULL. */
bool driver_pod_is_deleted(const json_t *pod);
