/* Why a driver's pod ended as it should not have, in words for who waits for it: which container, which limit, what to
 * do. */
#pragma once

#include "base/buf.h"

#include <jansson.h>

/*
 * Appends sentences on the pod @pod, whose container @container is the driver, without a full stop at the end. Nothing
 * of a pod that succeeded.
 */
void driver_trouble_describe(const json_t *pod, const char *container, struct buf *out);
