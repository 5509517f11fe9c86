/*
 * The drivers that send heartbeats to a shuffle service. Pure: no clock and no threads.
 *
 *      struct driver_heartbeats w = DRIVER_HEARTBEATS_INIT;
 *      driver_heartbeats_heard(&w, "app-1", timeout_ns, now, error);       ← DriverHeartbeat
 *      driver_heartbeats_forget(&w, "app-1");                              ← EndApplication
 *      while ((app = driver_heartbeats_take_silent(&w, now))) …            applications whose drivers are gone
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct fst_error;

#define MAX_WATCHED_DRIVERS 2000

struct watched_driver {
        char *app_id;
        int64_t deadline; /* ns */
};

struct driver_heartbeats {
        VEC(struct watched_driver) drivers;
};

#define DRIVER_HEARTBEATS_INIT ((struct driver_heartbeats){{0}})

void driver_heartbeats_deinit(struct driver_heartbeats *w);

/*
 * The driver of @app_id lives at @now, and sends its next heartbeat within @timeout_ns. Returns 1 for the first one, 0
 * for a later one; -EINVAL for a timeout that is not positive, -ENOSPC with too many drivers, both with @error.
 */
int driver_heartbeats_heard(struct driver_heartbeats *w, const char *app_id, int64_t timeout_ns, int64_t now,
                            struct fst_error *error);

/* The application has ended. An unknown one is ignored. */
void driver_heartbeats_forget(struct driver_heartbeats *w, const char *app_id);

/* Forgets an application whose driver was silent for its timeout. Returns its id, which the caller owns, or NULL. */
char *driver_heartbeats_take_silent(struct driver_heartbeats *w, int64_t now);
