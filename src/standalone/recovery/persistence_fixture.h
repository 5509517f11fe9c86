/* Shared fixture of the persistence tests: a minimal master. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "standalone/recovery/journal.h"
#include "standalone/recovery/persistence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct master_like {
        uv_loop_t *loop;
        struct persistence *p;
        bool elected, revoked, failed, closed;
        struct buf records; /* "app a-1=one " for each */
        char why[512];
        VEC(int) done; /* numbers of commits, in order of completion */
        struct commit *commits;
};

struct commit {
        struct master_like *m;
        int number;
        struct commit *next; /* freed with its master */
};

static void on_elected(void *owner, const struct persistence_record *records, size_t n)
{
        struct master_like *m = owner;
        assert_false(m->elected);
        m->elected = true;
        for (size_t i = 0; i < n; i++)
                buf_printf(&m->records, "%s %s=%.*s ", journal_kind_name(records[i].kind), records[i].id,
                           (int)records[i].size, (const char *)records[i].data);
}

static void on_revoked(void *owner, const char *why)
{
        struct master_like *m = owner;
        m->revoked = true;
        snprintf(m->why, sizeof(m->why), "%s", why);
}

static void on_failed(void *owner, const char *message)
{
        struct master_like *m = owner;
        m->failed = true;
        snprintf(m->why, sizeof(m->why), "%s", message);
}

static void on_closed(void *owner)
{
        struct master_like *m = owner;
        m->closed = true;
}

static void on_done(void *context)
{
        struct commit *c = context;
        vec_push(&c->m->done, c->number);
}

static const struct persistence_ops ops = {.elected = on_elected, .revoked = on_revoked, .failed = on_failed};

static void stand(struct master_like *m, const struct fst_conf *conf)
{
        struct fst_error error = FST_ERROR_INIT;
        *m = (struct master_like){.loop = new0(uv_loop_t)};
        uv_loop_init(m->loop);
        int r = persistence_open(m->loop, conf, "spark://here:7077", &ops, m, &m->p, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        assert_false(m->elected);
}

static void run_until(struct master_like *m, const bool *flag)
{
        while (!*flag)
                uv_run(m->loop, UV_RUN_ONCE);
}

static void start(struct master_like *m, const struct fst_conf *conf)
{
        stand(m, conf);
        run_until(m, &m->elected);
        assert_true(persistence_leads(m->p));
}

static void stop(struct master_like *m)
{
        persistence_close(m->p, on_closed, m);
        assert_false(m->closed);
        run_until(m, &m->closed);
        assert_int_equal(uv_loop_close(m->loop), 0);
        free(m->loop);
        buf_deinit(&m->records);
        vec_deinit(&m->done);
        for (struct commit *c = m->commits, *next; c; c = next) {
                next = c->next;
                free(c);
        }
}

static void store(struct master_like *m, enum master_record kind, const char *id, const char *data)
{
        persistence_store(m->p, kind, id, data, strlen(data));
}

static bool commit(struct master_like *m, int number)
{
        struct commit *c = new0(struct commit);
        *c = (struct commit){.m = m, .number = number, .next = m->commits};
        m->commits = c;
        size_t before = m->done.len;
        bool durable = persistence_commit(m->p, on_done, c);
        assert_int_equal(m->done.len, before);
        return durable;
}

static void commit_and_wait(struct master_like *m)
{
        size_t before = m->done.len;
        if (!commit(m, -1))
                while (m->done.len == before)
                        uv_run(m->loop, UV_RUN_ONCE);
}
