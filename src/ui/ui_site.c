/*
 * See ui_site.h. The loop's thread routes a request and checks changes; a thread of libuv's pool opens the application
 * and answers; the loop's thread sends the answer. The pieces of a long answer come from the pool one at a time, each
 * after the client has taken the one before. A request for an application that a history server is loading takes no
 * thread: it is parked, and repeated after an application was loaded.
 */
#include "ui/ui_site.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "events/event_json.h"
#include "metrics/metrics_servlets.h"
#include "metrics/metrics_snapshot.h"
#include "status/executors_prometheus.h"
#include "ui/api/api.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define HISTORY "/history/"

struct ui_site {
        struct ui_site_options options;
        struct web_site *web;
        struct metrics_servlets servlets; /* none without options.measure */
        struct ui_timelines timelines;
        bool measures_executors; /* spark.ui.prometheus.enabled, on a driver */
        size_t n_pending;        /* requests and pieces in the pool */
        /* Requests whose applications are being loaded. */
        struct ui_work *parked;
        uv_async_t loaded;     /* of a history server: applications were loaded */
        atomic_ulong n_loaded; /* their number */
        bool is_closing;
};

/* A request in the pool. */
struct ui_work {
        uv_work_t work;
        struct ui_site *site;
        struct ui_work *next;    /* parked */
        unsigned long n_loaded;  /* of the site, before the work */
        struct web_request *web; /* answered after the work */
        void (*run)(struct ui_work *w);
        struct ui_request request;
        struct ui_answer answer;
        char *base; /* of the application */
        struct metrics_snapshot *metrics;
};

/* ------------------------------------------------------------------------------------------------- answering */

static void ui_site_redirect(struct web_request *q, int status, const char *location)
{
        _cleanup_free_ char *whole = mem_printf("%s%s", *location == '/' ? q->base : "", location);
        http_call_set_header(q->call, "Location", whole);
        web_answer(q, status, NULL, NULL);
}

/* The rest of an answer. */
struct ui_sending {
        struct http_stream http;
        struct ui_site *site;
        struct ui_stream *rest;
        uv_work_t work;
        struct buf piece;
        int result; /* of the last piece */
};

static void ui_sending_produce(uv_work_t *work)
{
        struct ui_sending *s = container_of(work, struct ui_sending, work);
        enum { MARGIN = 8 << 10 }; /* the last row of a piece goes beyond its size: growing would double the buffer */
        buf_reserve(&s->piece, UI_STREAM_PIECE + MARGIN);
        s->result = s->rest->next(s->rest, &s->piece);
}

static void ui_sending_on_piece(uv_work_t *work, int status)
{
        struct ui_sending *s = container_of(work, struct ui_sending, work);
        s->site->n_pending--;
        if (status < 0)
                s->result = status;
        http_stream_put(&s->http, &s->piece,
                        s->result > 0    ? HTTP_PIECE_MORE
                        : s->result == 0 ? HTTP_PIECE_LAST
                                         : HTTP_PIECE_BROKEN);
}

static void ui_sending_next(struct http_stream *stream)
{
        struct ui_sending *s = container_of(stream, struct ui_sending, http);
        if (uv_queue_work(s->site->options.loop, &s->work, ui_sending_produce, ui_sending_on_piece) < 0)
                http_stream_put(stream, &s->piece, HTTP_PIECE_BROKEN);
        else
                s->site->n_pending++;
}

static void ui_sending_end(struct http_stream *stream)
{
        struct ui_sending *s = container_of(stream, struct ui_sending, http);
        s->rest->free(s->rest);
        buf_deinit(&s->piece);
        free(s);
}

static void ui_site_stream(struct ui_work *w)
{
        struct ui_sending *s = new0(struct ui_sending);
        s->http = (struct http_stream){.next = ui_sending_next, .end = ui_sending_end};
        s->site = w->site;
        s->rest = steal(w->answer.rest);
        web_answer_stream(w->web, w->answer.status, w->answer.type, &w->answer.body, &s->http);
}

static void ui_work_free(struct ui_work *w)
{
        ui_answer_deinit(&w->answer);
        free(w->metrics);
        free(w->base);
        free(w);
}

static void ui_work_answer(struct ui_work *w)
{
        struct ui_answer *a = &w->answer;
        if (w->metrics) {
                web_answer_metrics(w->web, w->metrics,
                                   metrics_servlets_find(&w->site->servlets, w->web->path) ==
                                           METRICS_SERVLET_PROMETHEUS);
        } else if (!a->status) {
                web_not_found(w->web);
        } else if (a->location) {
                ui_site_redirect(w->web, a->status, a->location);
        } else {
                _cleanup_free_ char *attachment =
                        a->file_name ? mem_printf("attachment; filename=%s", a->file_name) : NULL;
                if (a->is_lasting)
                        web_let_keep(w->web);
                if (attachment)
                        http_call_set_header(w->web->call, "Content-Disposition", attachment);
                if (a->rest)
                        ui_site_stream(w);
                else
                        web_answer(w->web, a->status, a->type, &a->body);
        }
}

static void ui_work_queue(struct ui_work *w);

static void ui_site_on_answer(uv_work_t *work, int status)
{
        struct ui_work *w = container_of(work, struct ui_work, work);
        struct ui_site *s = w->site;
        s->n_pending--;
        if (status == 0 && w->answer.is_early && !s->is_closing) {
                if (atomic_load(&s->n_loaded) != w->n_loaded) { /* meanwhile */
                        ui_work_queue(w);
                        return;
                }
                w->next = s->parked;
                s->parked = w;
                return;
        }
        if (status < 0)
                web_not_found(w->web);
        else if (w->answer.is_early)
                web_refuse(w->web, 503, "The server is shutting down.");
        else
                ui_work_answer(w);
        ui_work_free(w);
}

static void ui_site_run(uv_work_t *work)
{
        struct ui_work *w = container_of(work, struct ui_work, work);
        w->run(w);
}

/* Runs the work in the pool, for the first time or again. */
static void ui_work_queue(struct ui_work *w)
{
        struct ui_site *s = w->site;
        struct web_request *q = w->web;
        ui_answer_deinit(&w->answer);
        w->answer = (struct ui_answer){0};
        free(steal(w->base));
        w->n_loaded = atomic_load(&s->n_loaded);
        w->request = (struct ui_request){.method = q->method,
                                         .path = q->path,
                                         .raw_path = q->raw_path,
                                         .query = &q->form,
                                         .base = q->base,
                                         .site = q->base,
                                         .user = q->user,
                                         .token = web_form_token(q),
                                         .may_modify = web_may_modify(q),
                                         .now_ms = time_of_day_ms(),
                                         .timelines = s->timelines,
                                         .source = s->options.source};
        if (uv_queue_work(s->options.loop, &w->work, ui_site_run, ui_site_on_answer) < 0) {
                ui_work_free(w);
                web_refuse(q, 503, "The server cannot answer now.");
                return;
        }
        s->n_pending++;
}

/* Runs @run in the pool, which fills the answer to @q. */
static void ui_site_submit(struct ui_site *s, struct web_request *q, void (*run)(struct ui_work *w))
{
        struct ui_work *w = new0(struct ui_work);
        w->site = s;
        w->web = q;
        w->run = run;
        ui_work_queue(w);
}

/* Repeats the parked requests: those whose applications are not loaded yet are parked again. */
static void ui_site_on_loaded(uv_async_t *async)
{
        struct ui_site *s = container_of(async, struct ui_site, loaded);
        for (struct ui_work *w = steal(s->parked), *next; w; w = next) {
                next = w->next;
                ui_work_queue(w);
        }
}

/* An application was loaded. Any thread. */
static void ui_site_tell_loaded(void *owner)
{
        struct ui_site *s = owner;
        atomic_fetch_add(&s->n_loaded, 1);
        uv_async_send(&s->loaded);
}

/* --------------------------------------------------------------------------------------------- in the pool */

static void ui_work_refuse(struct ui_work *w, int status, const char *text)
{
        w->answer.status = status;
        w->answer.type = "text/plain;charset=utf-8";
        buf_puts(&w->answer.body, text);
}

static void ui_work_serve_api(struct ui_work *w)
{
        api_serve(&w->request, &w->answer);
}

static void ui_work_serve_site_page(struct ui_work *w)
{
        if (w->site->options.serve_page)
                w->site->options.serve_page(&w->request, &w->answer);
}

static void ui_work_measure(struct ui_work *w)
{
        w->metrics = new0(struct metrics_snapshot);
        w->site->options.measure(w->site->options.owner, w->metrics);
}

/* Answers /metrics/executors/prometheus: what the executors of the driver's application have done. */
static void ui_work_measure_executors(struct ui_work *w)
{
        struct app_source *source = w->site->options.source;
        struct app_view *view;
        if (source->class->open(source, source->app_id, NULL, &view, NULL))
                return;
        w->answer.status = 200;
        w->answer.type = "text/plain;charset=utf-8";
        app_view_read(view);
        executors_prometheus_put(view->status, EVENT_JSON_SPARK_VERSION, FIRESTEEL_VERSION, &w->answer.body);
        app_view_end(view);
        source->class->release(source, view);
}

/* Redirects a page without a slash at its end, to which relative links would lead astray. Returns true if it did. */
static bool ui_work_add_slash(struct ui_work *w)
{
        const char *raw = w->request.raw_path, *query = w->web->call->query;
        if (text_ends_with(raw, "/") || strcmp(w->request.method, "GET") != 0)
                return false;
        w->answer.status = 301;
        w->answer.location = mem_printf("%s/%s%s", raw, *query ? "?" : "", query);
        return true;
}

/* Answers a page of an application, whose attempt is @attempt (NULL: the only one) and whose path is set. */
static void ui_work_serve_app(struct ui_work *w, const char *id, const char *attempt)
{
        struct app_source *source = w->site->options.source;
        struct fst_error error = FST_ERROR_INIT;
        struct ui_request *q = &w->request;
        if (ui_work_add_slash(w))
                return;
        if (strcmp(q->path, "/") == 0) {
                w->answer.status = 302;
                w->answer.location = mem_printf("%s/jobs/", q->base + strlen(q->site));
                return;
        }
        int r = source->class->open(source, id, attempt, &q->view, &error);
        if (r == -EAGAIN) {
                w->answer.is_early = true;
        } else if (r == -ENOENT) {
                _cleanup_free_ char *text = mem_printf("Application %s not found.", id);
                ui_work_refuse(w, 404, text);
        } else if (r < 0) {
                ui_work_refuse(w, 500, error_message(&error));
        } else {
                const struct app_view_class *class = q->view->class;
                _cleanup_free_ char *text =
                        mem_printf("User %s is not authorized to access this page.", q->user ? q->user : "(unknown)");
                if (class->may_view && !class->may_view(q->view, q->user))
                        ui_work_refuse(w, 403, text);
                else if (w->site->options.serve_page)
                        w->site->options.serve_page(q, &w->answer);
                w->answer.is_early |= app_view_is_damaged(q->view);
                source->class->release(source, q->view);
        }
        error_deinit(&error);
}

static void ui_work_serve_driver_page(struct ui_work *w)
{
        ui_work_serve_app(w, w->site->options.source->app_id, NULL);
}

static const struct app_attempt *ui_work_find_attempt(const struct app_summary *app, const char *id)
{
        for (size_t i = 0; i < app->n_attempts; i++)
                if (id && *id && app->attempts[i].id && strcmp(app->attempts[i].id, id) == 0)
                        return &app->attempts[i];
        return NULL;
}

/* /history/ID[/ATTEMPT][/PAGE]. An application with attempts has no pages without one: the latest is shown. */
static void ui_work_serve_history_page(struct ui_work *w)
{
        struct app_source *source = w->site->options.source;
        struct ui_request *q = &w->request;
        struct app_list list = {0};
        const char *at = q->path + strlen(HISTORY), *rest = at + strcspn(at, "/");
        _cleanup_free_ char *id = mem_strndup(at, (size_t)(rest - at));
        _cleanup_free_ char *first = mem_strndup(rest + (*rest == '/'), strcspn(rest + (*rest == '/'), "/"));
        source->class->list(source, id, &list);
        const struct app_summary *app = list.apps.len ? &list.apps.data[0] : NULL;
        const struct app_attempt *attempt = app ? ui_work_find_attempt(app, first) : NULL;
        if (!app || !app->n_attempts) {
                _cleanup_free_ char *text = mem_printf("Application %s not found.", id);
                ui_work_refuse(w, 404, text);
        } else if (!attempt && app->attempts[0].id) {
                const char *query = w->web->call->query;
                w->answer.status = 302;
                w->answer.location =
                        mem_printf(HISTORY "%s/%s%s/%s%s", id, app->attempts[0].id, rest, *query ? "?" : "", query);
        } else {
                rest += attempt ? 1 + strlen(first) : 0;
                w->base = mem_printf("%s%.*s", q->site, (int)(rest - q->path), q->path);
                q->base = w->base;
                q->path = *rest ? rest : "/";
                ui_work_serve_app(w, id, attempt ? attempt->id : NULL);
        }
        app_list_deinit(&list);
}

/* ------------------------------------------------------------------------------------------------- on the loop */

/* Kills a job or a stage for a form of the site. Returns false if the path is of neither. */
static bool ui_site_kill(struct ui_site *s, struct web_request *q)
{
        bool is_job = web_is(q, "/jobs/job/kill");
        struct app_source *source = s->options.source;
        struct app_view *view;
        int64_t id;
        if (source->is_history || (!is_job && !web_is(q, "/stages/stage/kill")))
                return false;
        if (!web_require_form(q))
                return true;
        if (source->class->open(source, source->app_id, NULL, &view, NULL) < 0) {
                web_not_found(q);
                return true;
        }
        void (*kill)(struct app_view *, int) = is_job ? view->class->kill_job : view->class->kill_stage;
        if (!kill)
                web_refuse(q, 403, "spark.ui.killEnabled is false: jobs and stages cannot be killed here.");
        else if (form_get_int(&q->form, "id", &id) != 1 || id < 0 || id > INT32_MAX)
                web_refuse(q, 400, "The form has no valid id.");
        else {
                kill(view, (int)id);
                web_redirect(q, is_job ? "/jobs/" : "/stages/");
        }
        source->class->release(source, view);
        return true;
}

static void ui_site_on_request(void *owner, struct web_request *q)
{
        struct ui_site *s = owner;
        bool is_history = s->options.source->is_history;
        if (ui_site_kill(s, q))
                return;
        bool is_api = web_is(q, "/api") || text_starts_with(q->path, "/api/");
        if (strcmp(q->method, "GET") != 0)
                web_wrong_method(q, "GET, HEAD");
        else if (is_api && strcmp(q->raw_path, "/api") == 0)
                ui_site_redirect(q, 301, "/api/");
        else if (is_api)
                ui_site_submit(s, q, ui_work_serve_api);
        else if (metrics_servlets_find(&s->servlets, q->path))
                ui_site_submit(s, q, ui_work_measure);
        else if (s->measures_executors && web_is(q, "/metrics/executors/prometheus"))
                ui_site_submit(s, q, ui_work_measure_executors);
        else if (text_starts_with(q->path, "/static/") || (is_history && !text_starts_with(q->path, HISTORY)))
                ui_site_submit(s, q, ui_work_serve_site_page);
        else
                ui_site_submit(s, q, is_history ? ui_work_serve_history_page : ui_work_serve_driver_page);
}

/* ---------------------------------------------------------------------------------------------- start and end */

/* Reads the limits of timelines that the configuration sets. */
static int ui_site_read_timelines(const struct fst_conf *conf, struct ui_timelines *out, struct fst_error *error)
{
        const struct {
                const char *key;
                int *value;
        } keys[] = {{"spark.ui.timeline.jobs.maximum", &out->jobs},
                    {"spark.ui.timeline.stages.maximum", &out->stages},
                    {"spark.ui.timeline.executors.maximum", &out->executors},
                    {"spark.ui.timeline.tasks.maximum", &out->tasks}};
        int64_t number;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                if (!conf_contains(conf, keys[i].key))
                        continue;
                int r = conf_get_int(conf, keys[i].key, &number, error);
                if (r < 0)
                        return r;
                if (number < 1 || number > 10000)
                        return error_set(error, -EINVAL, "%s is %lld: write a number from 1 to 10000", keys[i].key,
                                         (long long)number);
                *keys[i].value = (int)number;
        }
        return 0;
}

int ui_site_new(const struct ui_site_options *options, struct ui_site **out, struct fst_error *error)
{
        struct ui_site *s = new0(struct ui_site);
        s->options = *options;
        struct web_site_options web = {.loop = options->loop,
                                       .conf = options->conf,
                                       .name = options->name,
                                       .port = options->port,
                                       .any_port = options->any_port,
                                       .base = options->base,
                                       .tls_space = options->tls_space,
                                       .scripts = true,
                                       .serve = ui_site_on_request,
                                       .owner = s};
        int r = conf_get_bool(options->conf, "spark.ui.prometheus.enabled", &s->measures_executors, error);
        s->measures_executors &= !options->source->is_history;
        if (r == 0)
                r = ui_site_read_timelines(options->conf, &s->timelines, error);
        if (r == 0 && options->measure)
                metrics_servlets_read(&s->servlets, "driver", options->conf, getenv("SPARK_CONF_DIR"));
        if (r == 0)
                r = web_site_new(&web, &s->web, error);
        if (r < 0) {
                metrics_servlets_deinit(&s->servlets);
                free(s);
                return r;
        }
        if (options->source->class->set_on_loaded) {
                uv_async_init(options->loop, &s->loaded, ui_site_on_loaded);
                options->source->class->set_on_loaded(options->source, ui_site_tell_loaded, s);
        }
        *out = s;
        return 0;
}

static void ui_site_on_closed(uv_handle_t *handle)
{
        container_of(handle, struct ui_site, loaded)->n_pending--;
}

void ui_site_free(struct ui_site *s)
{
        if (!s)
                return;
        s->is_closing = true;
        for (struct ui_work *w = steal(s->parked), *next; w; w = next) {
                next = w->next;
                web_refuse(w->web, 503, "The server is shutting down.");
                ui_work_free(w);
        }
        web_site_free(s->web);
        if (s->options.source->class->set_on_loaded) {
                s->options.source->class->set_on_loaded(s->options.source, NULL, NULL);
                uv_close((uv_handle_t *)&s->loaded, ui_site_on_closed);
                s->n_pending++;
        }
        while (s->n_pending > 0)
                uv_run(s->options.loop, UV_RUN_ONCE);
        metrics_servlets_deinit(&s->servlets);
        free(s);
}

int ui_site_read_proxy(struct ui_site *s, struct fst_error *error)
{
        return web_site_read_proxy(s->web, error);
}

int ui_site_port(const struct ui_site *s)
{
        return web_site_port(s->web);
}

bool ui_site_is_secure(const struct ui_site *s)
{
        return web_site_is_secure(s->web);
}
