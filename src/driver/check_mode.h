/*
 * spark.firesteel.check: a local master runs its tasks in a new executor process, so that captured pointers and globals
 * that main has changed fail on the first run.
 */
#pragma once

#include "conf/compat.h"

struct fst_context;
struct fst_error;

/*
 * If @sc enables the check and its master is local[N], change its manager and master to one executor with N cores and
 * the driver's memory, and its properties to those of a local master: no dynamic allocation, no shuffle service, and
 * the task failures of the master URL. Otherwise change nothing. Sets sc->check. Returns 0, or -EINVAL with @error.
 */
int check_mode_apply(struct fst_context *sc, enum submit_compat compat, struct fst_error *error);

/*
 * Returns the advice about check mode for an action that failed with the message @failure, or NULL if the message holds
 * no crash of a task, or one that check mode does not explain.
 */
const char *check_mode_hint(const struct fst_context *sc, const char *failure);
