/*
 * See api.h. Routes a path to its resource, with the application's view open and locked for reading. The resources
 * write JSON into the answer, and drop it if they fail on the way.
 */
#include "ui/api/api.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "io/codec/zip_file.h"
#include "events/event_json.h"
#include "ui/api/api_internal.h"
#include "web/html.h"

#include <errno.h>

#define API "/api/v1"

/* --------------------------------------------------------------------------------------------------- errors */

void api_fail(struct api_call *c, int status, const char *format, ...)
{
        va_list args;
        buf_reset(&c->a->body);
        va_start(args, format);
        buf_vprintf(&c->a->body, format, args);
        va_end(args);
        c->a->status = status;
        c->a->type = "text/plain";
        c->failed = true;
}

static void api_fail_page(struct api_call *c, const char *problem)
{
        buf_reset(&c->a->body);
        html_put(&c->a->body,
                 "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=utf-8\"/>\n"
                 "<title>Error 404 Not Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2>\n"
                 "<p>%s: %s.</p>\n</body>\n</html>\n",
                 c->q->path, problem);
        c->a->status = 404;
        c->a->type = "text/html;charset=utf-8";
        c->failed = true;
}

void api_fail_parameter(struct api_call *c)
{
        api_fail_page(c, "a parameter has an invalid value");
}

void api_fail_path(struct api_call *c)
{
        api_fail(c, 404, "%s", c->q->raw_path);
}

/* --------------------------------------------------------------------------------------- applications' resources */

static void api_serve_streaming(struct api_call *c, const char *rest)
{
        (void)rest;
        api_fail(c, 404, "no streaming listener attached to %s",
                 c->s->application.name ? c->s->application.name : "the application");
}

static const struct api_resource {
        const char *name;
        void (*serve)(struct api_call *c, const char *rest);
} api_resources[] = {
        {"jobs", api_serve_jobs},
        {"stages", api_serve_stages},
        {"executors", api_serve_executors},
        {"allexecutors", api_serve_all_executors},
        {"allmiscellaneousprocess", api_serve_processes},
        {"storage", api_serve_storage},
        {"environment", api_serve_environment},
        {"threads", api_serve_task_threads},
        {"streaming", api_serve_streaming},
        {"logs", NULL}, /* serves itself, because it reads files */
};

/* Returns the resource that a path of an application names: "/jobs/3". */
static const struct api_resource *api_find_resource(const char *path)
{
        size_t n = strcspn(path + 1, "/");
        for (size_t i = 0; i < ARRAY_SIZE(api_resources); i++)
                if (strlen(api_resources[i].name) == n && strncmp(path + 1, api_resources[i].name, n) == 0)
                        return &api_resources[i];
        return NULL;
}

/* Opens the application. Returns false after it answered with an error. */
static bool api_open(struct api_call *c)
{
        struct app_source *source = c->q->source;
        struct fst_error error = FST_ERROR_INIT;
        const char *slash = c->attempt ? "/" : "", *attempt = c->attempt ? c->attempt : "";
        int r = source->class->open(source, c->app_id, c->attempt, &c->view, &error);
        c->a->is_early = r == -EAGAIN;
        if (r == -ENOENT)
                api_fail(c, 404, "no such app: %s%s%s", c->app_id, slash, attempt);
        else if (r < 0 && r != -EAGAIN)
                api_fail(c, 500, "%s", error_message(&error));
        error_deinit(&error);
        if (r < 0)
                return false;
        const struct app_view_class *class = c->view->class;
        if (class->may_view && !class->may_view(c->view, c->q->user)) {
                source->class->release(source, c->view);
                api_fail(c, 403, "user \"%s\" is not authorized", c->q->user ? c->q->user : "null");
                return false;
        }
        return true;
}

static void api_serve_resource(struct api_call *c, const struct api_resource *resource, const char *rest)
{
        if (!resource->serve && *rest)
                return api_fail_path(c);
        if (!api_open(c))
                return;
        if (resource->serve) {
                app_view_read(c->view);
                c->s = c->view->status;
                c->now_ms = app_view_now(c->view, c->q->now_ms);
                resource->serve(c, rest);
                app_view_end(c->view);
                c->a->is_early |= app_view_is_damaged(c->view);
                if (c->a->rest)
                        return; /* it keeps the view */
        } else {
                api_serve_logs(c);
        }
        c->q->source->class->release(c->q->source, c->view);
}

/* @path begins behind "/applications": "/ID[/ATTEMPT][/RESOURCE…]". */
static void api_serve_applications(struct api_call *c, const char *path)
{
        if (!*path)
                return api_serve_application_list(c);
        size_t n = strcspn(path + 1, "/");
        _cleanup_free_ char *id = mem_strndup(path + 1, n), *attempt = NULL;
        c->app_id = id;
        path += 1 + n;
        if (!*path)
                return api_serve_application(c);
        const struct api_resource *resource = api_find_resource(path);
        if (!resource) {
                n = strcspn(path + 1, "/");
                c->attempt = attempt = mem_strndup(path + 1, n);
                path += 1 + n;
                if (!*path)
                        return api_serve_attempt(c);
                resource = api_find_resource(path);
        }
        if (resource)
                api_serve_resource(c, resource, path + 1 + strlen(resource->name));
        else
                api_fail_path(c);
}

void api_serve(const struct ui_request *q, struct ui_answer *a)
{
        struct api_call c = {.q = q, .a = a, .json = {.out = &a->body}, .now_ms = q->now_ms};
        const char *path = text_starts_with(q->path, API) ? q->path + strlen(API) : "";
        const char *apps = "/applications";
        a->status = 200;
        a->type = "application/json";
        if (strcmp(path, "/version") == 0) {
                json_begin(&c.json);
                json_text(&c.json, "spark", EVENT_JSON_SPARK_VERSION);
                json_end(&c.json);
        } else if (text_starts_with(path, apps) && (!path[strlen(apps)] || path[strlen(apps)] == '/')) {
                api_serve_applications(&c, path + strlen(apps));
        } else {
                api_fail_page(&c, "unknown resource. There are /api/v1/version and /api/v1/applications");
        }
}

/* ----------------------------------------------------------------------------------------------------- logs */

static int api_zip_sink(void *context, const void *data, size_t n, struct fst_error *error)
{
        struct buf *b = context;
        if (!buf_try_reserve(b, n))
                return error_set(error, -ENOMEM, "the logs do not fit into memory");
        buf_append(b, data, n);
        return 0;
}

/* A driver has no archive of its logs: the zip file is empty, as in Spark. */
static int api_put_empty_archive(struct buf *out, struct fst_error *error)
{
        struct zip_writer zip;
        zip_writer_init(&zip, api_zip_sink, out);
        int r = zip_writer_finish(&zip, error);
        zip_writer_deinit(&zip);
        return r;
}

void api_serve_logs(struct api_call *c)
{
        struct app_source *source = c->q->source;
        struct fst_error error = FST_ERROR_INIT;
        struct ui_stream *archive = NULL;
        int r;
        if (!source->class->archive_logs)
                r = api_put_empty_archive(&c->a->body, &error);
        else if ((r = source->class->archive_logs(source, c->app_id, c->attempt, &archive, &error)) == 0)
                r = archive->next(archive, &c->a->body);
        error_deinit(&error);
        if (r > 0)
                c->a->rest = archive;
        else if (archive)
                archive->free(archive);
        if (r < 0)
                return api_fail(c, 503, "Event logs are not available for app: %s.", c->app_id);
        c->a->type = "application/octet-stream";
        c->a->file_name =
                mem_printf("eventLogs-%s%s%s.zip", c->app_id, c->attempt ? "-" : "", c->attempt ? c->attempt : "");
}
