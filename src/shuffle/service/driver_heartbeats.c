/* See driver_heartbeats.h. A host has few applications, so a list suffices. */
#include "shuffle/service/driver_heartbeats.h"

#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

void driver_heartbeats_deinit(struct driver_heartbeats *w)
{
        for (size_t i = 0; i < w->drivers.len; i++)
                free(w->drivers.data[i].app_id);
        vec_deinit(&w->drivers);
}

static struct watched_driver *driver_heartbeats_find(struct driver_heartbeats *w, const char *app_id)
{
        for (size_t i = 0; i < w->drivers.len; i++)
                if (strcmp(w->drivers.data[i].app_id, app_id) == 0)
                        return &w->drivers.data[i];
        return NULL;
}

/* Removes a driver. Returns the application's id, which the caller owns. */
static char *driver_heartbeats_remove(struct driver_heartbeats *w, struct watched_driver *d)
{
        char *app_id = d->app_id;

        *d = w->drivers.data[--w->drivers.len];
        return app_id;
}

int driver_heartbeats_heard(struct driver_heartbeats *w, const char *app_id, int64_t timeout_ns, int64_t now,
                            struct fst_error *error)
{
        struct watched_driver *d = driver_heartbeats_find(w, app_id);

        if (timeout_ns <= 0 || timeout_ns > INT64_MAX - now)
                return error_set(error, -EINVAL, "the heartbeat of %s has the invalid timeout of %" PRId64 " ns",
                                 app_id, timeout_ns);
        if (d) {
                d->deadline = now + timeout_ns;
                return 0;
        }
        if (w->drivers.len >= MAX_WATCHED_DRIVERS)
                return error_set(error, -ENOSPC, "%zu drivers send heartbeats already", w->drivers.len);
        const struct watched_driver fresh = {.app_id = mem_strdup(app_id), .deadline = now + timeout_ns};
        vec_push(&w->drivers, fresh);
        return 1;
}

void driver_heartbeats_forget(struct driver_heartbeats *w, const char *app_id)
{
        struct watched_driver *d = driver_heartbeats_find(w, app_id);

        if (d)
                free(driver_heartbeats_remove(w, d));
}

char *driver_heartbeats_take_silent(struct driver_heartbeats *w, int64_t now)
{
        for (size_t i = 0; i < w->drivers.len; i++)
                if (w->drivers.data[i].deadline <= now)
                        return driver_heartbeats_remove(w, &w->drivers.data[i]);
        return NULL;
}
