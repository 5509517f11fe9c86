/*
 * spark.firesteel.check: a local master runs its tasks in an executor process of its own, started by exec, so that
 * pointers which are captured and globals which main has changed fail on the first run.
 */
#pragma once

#include "conf/compat.h"

struct fst_context;
struct fst_error;

/*
 * If the configuration of @sc asks for the check and its master is local[N], set its manager and master to one executor
 * of N cores with the memory of the driver, and its properties to those of a local master: no dynamic allocation, no
 * shuffle service, failures of tasks as the master URL says. Else it changes nothing. sc->check says which. 0, or
 * -EINVAL with @error.
 */
int check_mode_apply(struct fst_context *sc, enum submit_compat compat, struct fst_error *error);

/* The sentence that follows the report of an executor's crash. */
extern const char check_mode_hint[];
