/*
 * For tests of pages and resources: one application whose events the test feeds, as a driver or a history server has
 * it.
 *
 *      struct ui_fixture f;
 *      ui_fixture_begin(&f, true);
 *      status_on_job_start(f.status, …);
 *      ui_fixture_ask(&f, "/api/v1/applications/app-1/jobs", "status=running");   → f.answer
 *      ui_fixture_end(&f);
 */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "conf/redact.h"
#include "ui/api/api.h"

#include <stdatomic.h>
#include <stdio.h>

struct ui_fixture {
        struct app_source source;
        struct app_view view;
        struct status *status;
        struct redactor redactor;
        struct app_attempt attempt;
        const char *name;
        const char *allowed_user; /* NULL: everybody may see the application */
        int killed_job;           /* by a form; -1: none */
        atomic_int n_open;        /* threads of the pool open and release at the same time */
        /* The application is being loaded: who asks for it is told to come again. */
        atomic_bool is_loading;
        atomic_int n_early; /* those that were told so */
        void (*on_loaded)(void *owner);
        void *on_loaded_owner;
        struct ui_answer answer;
        size_t n_pieces; /* of the body */
};

static inline struct ui_fixture *ui_fixture_of_view(struct app_view *view)
{
        return container_of(view, struct ui_fixture, view);
}

static bool ui_fixture_may_view(struct app_view *view, const char *user)
{
        const char *allowed = ui_fixture_of_view(view)->allowed_user;
        return !allowed || (user && strcmp(user, allowed) == 0);
}

static void ui_fixture_kill_job(struct app_view *view, int job)
{
        ui_fixture_of_view(view)->killed_job = job;
}

/* A file with 40 lines of markup. */
static const char *ui_fixture_source(struct app_view *view, const char *file)
{
        static char text[1024];
        size_t n = 0;
        (void)view;
        if (strcmp(file, "words.c") != 0)
                return NULL;
        for (int i = 1; i <= 40; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "<b>line %d\n", i);
        return text;
}

static void ui_fixture_list(struct app_source *source, const char *id, struct app_list *out)
{
        struct ui_fixture *f = container_of(source, struct ui_fixture, source);
        if (!id || strcmp(id, source->app_id) == 0)
                vec_push(&out->apps, (struct app_summary){source->app_id, f->name, &f->attempt, 1});
}

static int ui_fixture_open(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                           struct fst_error *error)
{
        struct ui_fixture *f = container_of(source, struct ui_fixture, source);
        if (strcmp(id, "broken") == 0)
                return error_set(error, -EIO, "the log cannot be read");
        if (strcmp(id, source->app_id) != 0 || (attempt && (!f->attempt.id || strcmp(attempt, f->attempt.id) != 0)))
                return -ENOENT;
        if (atomic_load(&f->is_loading)) {
                atomic_fetch_add(&f->n_early, 1);
                return -EAGAIN;
        }
        f->n_open++;
        *out = &f->view;
        return 0;
}

static void ui_fixture_release(struct app_source *source, struct app_view *view)
{
        (void)view;
        container_of(source, struct ui_fixture, source)->n_open--;
}

static void ui_fixture_set_on_loaded(struct app_source *source, void (*on_loaded)(void *owner), void *owner)
{
        struct ui_fixture *f = container_of(source, struct ui_fixture, source);
        f->on_loaded = on_loaded;
        f->on_loaded_owner = owner;
}

static inline void ui_fixture_begin(struct ui_fixture *f, bool is_live)
{
        static const struct app_view_class view_class = {
                .may_view = ui_fixture_may_view, .kill_job = ui_fixture_kill_job, .source = ui_fixture_source};
        static const struct app_source_class source_class = {.list = ui_fixture_list,
                                                             .open = ui_fixture_open,
                                                             .release = ui_fixture_release,
                                                             .set_on_loaded = ui_fixture_set_on_loaded};
        *f = (struct ui_fixture){.name = "count", .killed_job = -1};
        f->status = status_new(&(struct status_options){.is_live = is_live});
        f->source = (struct app_source){.class = &source_class, .is_history = !is_live, .app_id = "app-1"};
        f->attempt = (struct app_attempt){.start_ms = 1500000000000,
                                          .end_ms = is_live ? -1 : 1500000060000,
                                          .updated_ms = 1500000060000,
                                          .duration_ms = is_live ? 0 : 60000,
                                          .user = "ann",
                                          .spark_version = "4.3.0",
                                          .completed = !is_live,
                                          .exit_code = -1};
        redactor_init_lenient(&f->redactor, NULL);
        app_view_init(&f->view, &view_class, f->status, &f->redactor);
        f->view.is_live = is_live;
}

static inline void ui_fixture_end(struct ui_fixture *f)
{
        ui_answer_deinit(&f->answer);
        app_view_deinit(&f->view);
        redactor_deinit(&f->redactor);
        status_free(f->status);
}

/* Fills what @q leaves open, and passes it to @serve. */
static inline void ui_fixture_serve(struct ui_fixture *f, const char *path, const char *query, struct ui_request q,
                                    void (*serve)(const struct ui_request *q, struct ui_answer *a))
{
        struct form form = FORM_INIT;
        form_parse(&form, query, strlen(query));
        ui_answer_deinit(&f->answer);
        f->answer = (struct ui_answer){0};
        q.method = "GET";
        q.path = q.raw_path = path;
        q.query = &form;
        q.now_ms = 1500000100000;
        q.source = &f->source;
        serve(&q, &f->answer);
        form_deinit(&form);
        f->n_pieces = 1;
        struct ui_stream *rest = steal(f->answer.rest);
        for (int r = rest ? 1 : 0; r > 0; f->n_pieces++) {
                struct buf piece = BUF_INIT;
                if ((r = rest->next(rest, &piece)) < 0)
                        f->answer.status = -1;
                buf_append(&f->answer.body, piece.data, piece.len);
                buf_deinit(&piece);
        }
        if (rest)
                rest->free(rest);
}

/* Asks the REST API. */
static inline void ui_fixture_ask_as(struct ui_fixture *f, const char *user, const char *path, const char *query)
{
        const struct ui_request q = {.base = "", .site = "", .user = user, .token = ""};
        ui_fixture_serve(f, path, query, q, api_serve);
}

/* Asks for a page of the application. */
static inline void ui_fixture_open_page(struct ui_fixture *f, const char *path, const char *query,
                                        void (*serve)(const struct ui_request *q, struct ui_answer *a))
{
        const struct ui_request q = {
                .base = "/proxy/app-1", .site = "/proxy", .token = "token", .may_modify = true, .view = &f->view};
        ui_fixture_serve(f, path, query, q, serve);
}

static inline void ui_fixture_ask(struct ui_fixture *f, const char *path, const char *query)
{
        ui_fixture_ask_as(f, NULL, path, query);
}
