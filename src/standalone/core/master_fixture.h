/* Shared fixture of the master's tests: an owner that records all actions. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "standalone/core/master_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct recorder {
        struct master *m;
        struct buf said, stored; /* a line for each action; records and the log are kept apart */
        struct buf logged;
        void (*store)(const struct master_action *action); /* NULL: only recorded */
};

#define SAY(...) buf_printf(&r->said, __VA_ARGS__)

static inline void recorder_write_update(struct recorder *r, const struct master_action *a)
{
        SAY("updated %s/%d %s", a->executor->app->name, a->executor->id, executor_state_name(a->state));
        if (a->text)
                SAY(" (%s)", a->text);
        if (a->has_exit_status)
                SAY(" %d", a->exit_status);
        SAY("%s%s\n", a->worker ? " of " : "", a->worker ? a->worker->host : "");
}

static inline void recorder_write(struct recorder *r, const struct master_action *a)
{
        switch (a->kind) {
        case MASTER_STORE:
                buf_printf(&r->stored, "+%c %s\n", "adw"[a->record], a -> id);
                if (r->store)
                        r->store(a);
                break;
        case MASTER_REMOVE:
                buf_printf(&r->stored, "-%c %s\n", "adw"[a->record], a -> id);
                break;
        case MASTER_WORKER_REGISTERED:
                SAY("registered %s%s\n", a->worker->id, a->again ? " again" : "");
                break;
        case MASTER_WORKER_REFUSED:
                SAY("refused %d: %s\n", (int)a->peer, a->text);
                break;
        case MASTER_IN_STANDBY:
                SAY("standby %d\n", (int)a->peer);
                break;
        case MASTER_RECONNECT_WORKER:
                SAY("reconnect %d\n", (int)a->peer);
                break;
        case MASTER_LAUNCH_EXECUTOR:
                SAY("launch %s/%d on %s %d\n", a->executor->app->name, a->executor->id, a->worker->id,
                    a->executor->cores);
                break;
        case MASTER_KILL_EXECUTOR:
                SAY("kill %d on %s\n", a->executor_id, a->worker->id);
                break;
        case MASTER_LAUNCH_DRIVER:
                SAY("launch driver %s on %s\n", a->driver->main_class, a->worker->id);
                break;
        case MASTER_KILL_DRIVER:
                SAY("kill driver %s on %s\n", a->text, a->worker->id);
                break;
        case MASTER_APP_FINISHED:
                SAY("finished %s\n", a->app->name);
                break;
        case MASTER_APP_REGISTERED:
                SAY("registered %s%s\n", a->app->name, a->again ? " again" : "");
                break;
        case MASTER_EXECUTOR_ADDED:
                break;
        case MASTER_EXECUTOR_UPDATED:
                recorder_write_update(r, a);
                break;
        case MASTER_WORKER_REMOVED:
                for (const struct master_app *app = r->m->apps.first; app; app = app->next)
                        SAY("removed %s for %s: %s\n", a->worker->id, app->name, a->text);
                break;
        case MASTER_EXECUTORS_DO_NOT_FIT:
                SAY("%s: %s\n", a->app->name, a->text);
                break;
        case MASTER_APP_REMOVED:
                SAY("ended %s %s\n", a->app->name, app_state_name(a->app->state));
                break;
        case MASTER_APP_SUPERSEDED:
                SAY("superseded %d of %s\n", (int)a->peer, a->app->name);
                break;
        case MASTER_CHANGED_APP:
                SAY("changed %s\n", a->app->name);
                break;
        case MASTER_CHANGED_WORKER:
                SAY("changed %s\n", a->worker->id);
                break;
        case MASTER_LEADERSHIP_LOST:
                SAY("leadership lost\n");
                break;
        case MASTER_LOG_LINE:
                if (a->level <= LOG_WARN)
                        buf_printf(&r->logged, "%s\n", a->text);
                break;
        }
}

static inline struct master *recorded_master(struct recorder *r, const struct master_config *config)
{
        return r->m = master_new(config);
}

/* Returns @part of @r after recording all pending actions. */
static inline struct buf *recorder_update(struct recorder *r, struct buf *part)
{
        for (const struct master_action *a; (a = master_next_action(r->m));)
                recorder_write(r, a);
        return part;
}

static inline void recorder_deinit(struct recorder *r)
{
        buf_deinit(&r->said);
        buf_deinit(&r->stored);
        buf_deinit(&r->logged);
}

/* Asserts the lines recorded since the last call. */
static inline void recorder_expect(struct recorder *r, const char *lines)
{
        assert_string_equal(buf_text(recorder_update(r, &r->said)), lines);
        buf_reset(&r->said);
}
