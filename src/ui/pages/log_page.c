/*
 * Durable logs of drivers and executors (logs/log_store.h): links to them, a page with a part of a log, and the part as
 * text. Parameters and texts are those of the log pages of a worker.
 *
 * A site reads only the directory of its own configuration. An event log names a directory, too, but its author may not
 * be allowed to read what a history server can.
 */
#include "ui/pages/page.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "logs/log_store.h"

#define DIR_KEY "spark.firesteel.logs.dir"
#define DEFAULT_BYTES (100 * 1024)
#define MAX_BYTES (1024 * 1024)

/* A request for a part of a log. Texts are owned. */
struct log_query {
        char *application, *process, *executor;
        const char *type;
        bool has_offset;
        int64_t offset, bytes;
};

static void log_query_deinit(struct log_query *l)
{
        free(l->application);
        free(l->process);
        free(l->executor);
}

/* ------------------------------------------------------------------------------------------------------- links */

/* Whether the application stores its output. */
static bool page_has_durable_logs(const struct ui_page *p)
{
        const char *dir = strmap_get(&p->s->application.spark_properties, DIR_KEY);
        return dir && *dir && p->view->logs_dir && p->s->application.id;
}

void page_put_executor_logs(struct ui_page *p, const struct status_executor *x)
{
        static const char *const types[] = {"stdout", "stderr"};
        const bool is_gone = !x->is_active || (!p->view->is_live && p->s->application.has_ended);
        if (!page_has_durable_logs(p) || (strmap_next(&x->logs, NULL) && !is_gone)) {
                page_put_logs(p, &x->logs);
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                html_put(p->b, "<a href=\"%s/executors/logPage/?executorId=%q&amp;logType=%s\">%s</a> ", p->q->base,
                         x->id, types[i], types[i]);
}

/* ----------------------------------------------------------------------------------------------------- reading */

/* Whether a name of a process stays in the directory of its application. */
static bool log_query_is_name(const char *text)
{
        enum { MAX_NAME = 64 };
        const size_t n = strlen(text);
        return n > 0 && n <= MAX_NAME && *text != '.' &&
               strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == n;
}

/* Reads the parameters. Returns false after it answered. */
static bool log_query_read(struct log_query *l, struct ui_page *p)
{
        const struct form *form = p->q->query;
        const char *executor = form_get(form, "executorId"), *type = form_get(form, "logType");
        const char *attempt = p->s->application.attempt_id;
        const int has_offset = form_get_int(form, "offset", &l->offset);
        const int has_bytes = form_get_int(form, "byteLength", &l->bytes);
        if (!executor || !log_query_is_name(executor)) {
                page_fail(p, 400,
                          executor ? "The parameter 'executorId' is not the id of an executor."
                                   : "The parameter 'executorId' is missing.");
                return false;
        }
        if (!type || (strcmp(type, "stdout") != 0 && strcmp(type, "stderr") != 0)) {
                page_fail(p, 400, "Log type must be one of stderr, stdout");
                return false;
        }
        if (has_offset < 0 || has_bytes < 0 || (has_bytes && l->bytes < 0)) {
                page_fail(p, 400, "offset and byteLength must be numbers.");
                return false;
        }
        if (!page_has_durable_logs(p)) {
                page_fail(p, 404,
                          p->view->logs_dir ? "The application has no durable logs: it ran without " DIR_KEY "."
                                            : "Durable logs are not read: " DIR_KEY
                                              " is not in the configuration of this server.");
                return false;
        }
        l->has_offset = has_offset > 0;
        l->bytes = has_bytes ? MIN(l->bytes, (int64_t)MAX_BYTES) : DEFAULT_BYTES;
        l->type = strcmp(type, "stdout") == 0 ? "stdout" : "stderr";
        l->application = mem_strdup(p->s->application.id);
        l->executor = mem_strdup(executor);
        l->process = mem_printf("%s%s%s%s", strcmp(executor, "driver") == 0 ? "" : "executor-", executor,
                                attempt && strcmp(attempt, "1") != 0 ? "-attempt-" : "",
                                attempt && strcmp(attempt, "1") != 0 ? attempt : "");
        return true;
}

static int log_query_find(const struct log_query *l, const char *dir, struct stored_part *part, struct fst_error *error)
{
        _cleanup_free_ char *root = NULL;
        const struct file_system *fs;
        int r = file_system_resolve(dir, &root, &fs, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = path_join(root, l->application);
        return log_store_read_part(fs, path, l->process, l->type, l->has_offset ? &l->offset : NULL, l->bytes, part,
                                   error);
}

/* Reads the part without the view's lock, since a storage may be slow. Returns false after it answered. */
static bool log_query_fetch(const struct log_query *l, struct ui_page *p, struct stored_part *part)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *dir = p->view->logs_dir;
        app_view_end(p->view);
        const int r = strchr(l->application, '/') ? -ENOENT : log_query_find(l, dir, part, &error);
        app_view_read(p->view);
        p->s = p->view->status;
        if (r == -ENOENT)
                page_fail(p, 404, "Nothing is stored of %s of %s %s in " DIR_KEY " (%s).", l->type,
                          strcmp(l->executor, "driver") == 0 ? "the" : "executor", l->executor, dir);
        else if (r < 0)
                page_fail(p, 500, "The log cannot be read: %s", error_message(&error));
        return r == 0;
}

/* ----------------------------------------------------------------------------------------------------- answers */

static void log_query_put_link(const struct log_query *l, struct ui_page *p, const char *page, const char *text,
                               int64_t offset)
{
        html_put(p->b, "<a href=\"%s/executors/%s/?executorId=%q&amp;logType=%s", p->q->base, page, l->executor,
                 l->type);
        if (offset >= 0)
                html_put(p->b, "&amp;offset=%D", offset);
        html_put(p->b, "&amp;byteLength=%D\">%s</a> ", l->bytes, text);
}

static void log_query_answer(const struct log_query *l, struct ui_page *p, const struct stored_part *part)
{
        const int64_t start = (int64_t)part->start, end = (int64_t)part->end, total = (int64_t)part->total;
        const bool is_driver = strcmp(l->executor, "driver") == 0;
        page_begin(p, TAB_EXECUTORS, "%s of %s%s", l->type, is_driver ? "the " : "executor ", l->executor);
        html_put(p->b,
                 "<p id=\"log-data\">Showing %D Bytes: %D - %D of %D</p>\n<nav class=\"pager\" aria-label=\"Log\">",
                 end - start, start, end, total);
        if (part->start > part->first) {
                log_query_put_link(l, p, "logPage", "First", (int64_t)part->first);
                log_query_put_link(l, p, "logPage", "Older", MAX(start - l->bytes, (int64_t)part->first));
        }
        if (end < total)
                log_query_put_link(l, p, "logPage", "Newer", end);
        log_query_put_link(l, p, "logPage", "End of Log", -1);
        log_query_put_link(l, p, "log", "As text", l->has_offset ? l->offset : -1);
        buf_puts(p->b, "</nav>\n<pre id=\"log\">");
        html_text(p->b, buf_text(&part->text), part->text.len);
        buf_puts(p->b, "</pre>\n");
        page_end(p);
}

void page_serve_log(struct ui_page *p)
{
        _cleanup_(log_query_deinit) struct log_query l = {0};
        struct stored_part part = {0};
        if (log_query_read(&l, p) && log_query_fetch(&l, p, &part))
                log_query_answer(&l, p, &part);
        stored_part_deinit(&part);
}

void page_serve_log_text(struct ui_page *p)
{
        _cleanup_(log_query_deinit) struct log_query l = {0};
        struct stored_part part = {0};
        if (log_query_read(&l, p) && log_query_fetch(&l, p, &part)) {
                buf_printf(p->b, "==== Bytes %lld-%lld of %lld of %s/%s/%s ====\n", (long long)part.start,
                           (long long)part.end, (long long)part.total, l.application, l.process, l.type);
                buf_append(p->b, buf_text(&part.text), part.text.len);
                p->a->status = 200;
                p->a->type = "text/plain;charset=utf-8";
        }
        stored_part_deinit(&part);
}
