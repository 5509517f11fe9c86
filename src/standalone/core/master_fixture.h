/* What the tests of the master share: an owner that writes down what it is asked for. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "standalone/core/master_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct recorder {
        struct buf said, stored; /* a line for each operation; records and the log apart */
        struct buf logged;
};

static void rec_store(void *owner, enum master_record kind, const char *id, const void *object)
{
        (void)object;
        buf_printf(&((struct recorder *)owner)->stored, "+%c %s\n", "adw"[kind], id);
}

static void rec_remove(void *owner, enum master_record kind, const char *id)
{
        buf_printf(&((struct recorder *)owner)->stored, "-%c %s\n", "adw"[kind], id);
}

#define SAY(...) buf_printf(&((struct recorder *)owner)->said, __VA_ARGS__)

static void rec_worker_registered(void *owner, const struct master_worker *w, bool again)
{
        SAY("registered %s%s\n", w->id, again ? " again" : "");
}

static void rec_worker_refused(void *owner, uint64_t peer, const char *message)
{
        SAY("refused %d: %s\n", (int)peer, message);
}

static void rec_in_standby(void *owner, uint64_t peer)
{
        SAY("standby %d\n", (int)peer);
}

static void rec_reconnect_worker(void *owner, uint64_t peer)
{
        SAY("reconnect %d\n", (int)peer);
}

static void rec_launch_executor(void *owner, const struct master_executor *e)
{
        SAY("launch %s/%d on %s %d\n", e->app->name, e->id, e->worker->id, e->cores);
}

static void rec_kill_executor(void *owner, const struct master_worker *w, const char *app_id, int executor)
{
        (void)app_id;
        SAY("kill %d on %s\n", executor, w->id);
}

static void rec_launch_driver(void *owner, const struct master_driver *d)
{
        SAY("launch driver %s on %s\n", d->main_class, d->worker->id);
}

static void rec_kill_driver(void *owner, const struct master_worker *w, const char *driver_id)
{
        SAY("kill driver %s on %s\n", driver_id, w->id);
}

static void rec_app_finished(void *owner, const struct master_app *app)
{
        SAY("finished %s\n", app->name);
}

static void rec_app_registered(void *owner, const struct master_app *app, bool again)
{
        SAY("registered %s%s\n", app->name, again ? " again" : "");
}

static void rec_executor_added(void *owner, const struct master_executor *e)
{
        (void)owner;
        (void)e;
}

static void rec_executor_updated(void *owner, const struct master_executor *e, const char *message,
                                 const int *exit_status, const char *worker_host)
{
        SAY("updated %s/%d %s", e->app->name, e->id, executor_state_name(e->state));
        if (message)
                SAY(" (%s)", message);
        if (exit_status)
                SAY(" %d", *exit_status);
        SAY("%s%s\n", worker_host ? " of " : "", worker_host ? worker_host : "");
}

static void rec_worker_removed(void *owner, const struct master_app *app, const struct master_worker *w,
                               const char *message)
{
        SAY("removed %s for %s: %s\n", w->id, app->name, message);
}

static void rec_executors_do_not_fit(void *owner, const struct master_app *app, const char *message)
{
        SAY("%s: %s\n", app->name, message);
}

static void rec_app_removed(void *owner, const struct master_app *app)
{
        SAY("ended %s %s\n", app->name, app_state_name(app->state));
}

static void rec_changed_app(void *owner, const struct master_app *app)
{
        SAY("changed %s\n", app->name);
}

static void rec_changed_worker(void *owner, const struct master_worker *w)
{
        SAY("changed %s\n", w->id);
}

static void rec_leadership_lost(void *owner)
{
        SAY("leadership lost\n");
}

static void rec_log(void *owner, enum log_level level, const char *line)
{
        if (level <= LOG_WARN)
                buf_printf(&((struct recorder *)owner)->logged, "%s\n", line);
}

static const struct master_ops recorder_ops = {
        .store = rec_store,
        .remove = rec_remove,
        .worker_registered = rec_worker_registered,
        .worker_refused = rec_worker_refused,
        .in_standby = rec_in_standby,
        .reconnect_worker = rec_reconnect_worker,
        .launch_executor = rec_launch_executor,
        .kill_executor = rec_kill_executor,
        .launch_driver = rec_launch_driver,
        .kill_driver = rec_kill_driver,
        .app_finished = rec_app_finished,
        .app_registered = rec_app_registered,
        .executor_added = rec_executor_added,
        .executor_updated = rec_executor_updated,
        .worker_removed = rec_worker_removed,
        .executors_do_not_fit = rec_executors_do_not_fit,
        .app_removed = rec_app_removed,
        .master_changed_app = rec_changed_app,
        .master_changed_worker = rec_changed_worker,
        .leadership_lost = rec_leadership_lost,
        .log = rec_log,
};

static inline void recorder_deinit(struct recorder *r)
{
        buf_deinit(&r->said);
        buf_deinit(&r->stored);
        buf_deinit(&r->logged);
}

/* What was asked for since the last look is this. */
static inline void said(struct recorder *r, const char *lines)
{
        assert_string_equal(buf_text(&r->said), lines);
        buf_reset(&r->said);
}
