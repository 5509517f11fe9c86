/*
 * Performs the actions of applications through the API server: submits drivers, deletes and exposes them, writes the
 * status. Submissions happen in this process.
 */
#pragma once

#include "operator/core/application_core.h"
#include "operator/shell/daemon_internal.h"

/* Performs all actions that the core has emitted. */
void application_actions_drain(struct operator_daemon *d);

/*
 * Reads a SparkApplication for the core, and passes it with the @labels of its metrics, which may be NULL. Keeps its
 * text if it waits for its first submission. Returns true if it should be queued.
 */
bool application_observe(struct operator_context *context, const json_t *object, const char *labels);
