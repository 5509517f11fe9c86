/* Why a driver's pod failed, in words for the client that waits for it: which container, which limit, what to do. */
#pragma once

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

struct driver_diagnosis {
        struct buf text;           /* sentences without the last full stop, "" for a pod that succeeded */
        const char *log_container; /* its log tells more; NULL: none does. Borrowed from the pod */
};

/*
 * Diagnose the pod @pod, whose container @container is the driver. @gone: the pod is deleted, and @pod is its last
 * known state, or NULL. Deinit afterwards.
 */
void driver_diagnosis_init(struct driver_diagnosis *d, const json_t *pod, const char *container, bool gone);
void driver_diagnosis_deinit(struct driver_diagnosis *d);

/* Whether somebody has deleted the pod @pod, which may be NULL: it is going. */
bool driver_pod_is_deleted(const json_t *pod);
