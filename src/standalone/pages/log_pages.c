/* See log_pages.h. Parameters, texts and the order of pieces are those of Spark's LogPage. */
#include "standalone/pages/log_pages.h"

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "standalone/pages/log_reader.h"
#include "web/html.h"
#include "web/web_site.h"

#include <ctype.h>

#define DEFAULT_BYTES (100 * 1024)

struct log_pages {
        struct log_pages_options options;
        LIST(struct log_request) requests; /* being read */
};

struct log_request {
        uv_work_t work;
        struct log_pages *pages; /* NULL: freed */
        struct log_request *prev, *next;
        struct web_request *q;
        char *work_dir, *parts[2], *type, *directory;
        char *daemon; /* the daemon whose own log this is, else NULL */
        int n_parts;
        bool has_offset, page;
        int64_t offset, bytes;
        struct log_range range;
        int result;
        struct fst_error error;
};

static void log_request_free(struct log_request *r)
{
        if (r->pages)
                list_remove(&r->pages->requests, r);
        free(r->work_dir);
        free(r->parts[0]);
        free(r->parts[1]);
        free(r->type);
        free(r->daemon);
        free(r->directory);
        log_range_deinit(&r->range);
        error_deinit(&r->error);
        free(r);
}

static void read_log(uv_work_t *work)
{
        struct log_request *r = work->data;
        _cleanup_free_ char *own = NULL;
        if (r->daemon && strcmp(r->type, "out") == 0)
                own = log_view_own(r->work_dir);
        r->result = log_view_read(r->work_dir, (const char *const *)r->parts, r->n_parts, own ? own : r->type,
                                  r->has_offset ? &r->offset : NULL, r->bytes, &r->range, &r->error);
}

/* "appId=…&executorId=…", "driverId=…" or "self", with the type: the start of all links of a log page. */
static void put_target(struct buf *b, const struct log_request *r)
{
        html_put(b, "%s/logPage/?", r->q->base);
        if (r->daemon)
                html_put(b, "self&amp;logType=%q", r->type);
        else if (r->n_parts == 2)
                html_put(b, "appId=%q&amp;executorId=%q&amp;logType=%q", r->parts[0], r->parts[1], r->type);
        else
                html_put(b, "driverId=%q&amp;logType=%q", r->parts[0], r->type);
}

static void put_piece_link(struct buf *b, const struct log_request *r, int64_t offset, const char *text)
{
        buf_puts(b, "<a href=\"");
        put_target(b, r);
        html_put(b, "&amp;offset=%D&amp;byteLength=%D\">%s</a> ", offset, r->bytes, text);
}

static void answer_page(struct log_request *r, const char *text, size_t len)
{
        struct web_request *q = r->q;
        const struct log_range *g = &r->range;
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("%s log page for %s%s%s", r->type, r->daemon ? r->daemon : r->parts[0],
                                                r->n_parts == 2 ? "/" : "", r->n_parts == 2 ? r->parts[1] : "");
        _cleanup_free_ char *back = mem_printf("Back to %c%s", toupper((unsigned char)*r->pages->options.daemon),
                                               r->pages->options.daemon + 1);
        struct html_page page = {.base = q->base, .title = title, .back_url = "/", .back_text = back, .user = q->user};
        html_begin(&b, &page);
        html_put(&b, "<p id=\"log-data\">Showing %D Bytes: %D - %D of %D</p>\n<nav>", g->end - g->start, g->start,
                 g->end, g->total);
        if (g->start > 0) {
                put_piece_link(&b, r, 0, "First");
                put_piece_link(&b, r, MAX(g->start - r->bytes, (int64_t)0), "Older");
        }
        if (g->end < g->total)
                put_piece_link(&b, r, g->end, "Newer");
        buf_puts(&b, "<a href=\"");
        put_target(&b, r);
        html_put(&b, "&amp;byteLength=%D\">End of Log</a></nav>\n<pre>", r->bytes);
        html_text(&b, text, len);
        buf_puts(&b, "</pre>\n");
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

static void answer_log(struct log_request *r)
{
        struct buf text = BUF_INIT;
        if (r->result == -ENOENT)
                buf_printf(&text, "Error: invalid log directory %s", r->directory);
        else if (r->result < 0)
                buf_printf(&text, "Error getting logs due to exception: %s", error_message(&r->error));
        else {
                text = r->range.text;
                r->range.text = BUF_INIT;
        }
        if (r->page) {
                answer_page(r, buf_text(&text), text.len);
                buf_deinit(&text);
                return;
        }
        struct buf whole = BUF_INIT;
        buf_printf(&whole, "==== Bytes %lld-%lld of %lld of %s%s ====\n", (long long)r->range.start,
                   (long long)r->range.end, (long long)r->range.total, r->directory, r->type);
        buf_append(&whole, buf_text(&text), text.len);
        buf_deinit(&text);
        web_answer_text(r->q, 200, &whole);
}

static void log_pages_on_read(uv_work_t *work, int status)
{
        struct log_request *r = work->data;
        if (r->pages)
                answer_log(r);
        log_request_free(r);
}

/* Reads the parameters. Returns false if it has answered. */
static bool read_parameters(struct web_request *q, struct log_request *r)
{
        const char *app = form_get(&q->form, "appId"), *executor = form_get(&q->form, "executorId");
        const char *driver = form_get(&q->form, "driverId"), *type = form_get(&q->form, "logType");
        const struct log_pages_options *o = &r->pages->options;
        bool own = form_get(&q->form, "self") && !app && !executor && !driver;
        int has_offset = form_get_int(&q->form, "offset", &r->offset);
        int has_bytes = form_get_int(&q->form, "byteLength", &r->bytes);
        r->has_offset = has_offset > 0;
        if (has_bytes == 0)
                r->bytes = DEFAULT_BYTES;
        if (has_offset < 0 || has_bytes < 0 || r->bytes < 0) {
                web_refuse(q, 400, "offset and byteLength must be numbers.");
                return false;
        }
        r->bytes = MIN(r->bytes, (int64_t)MAX_LOG_VIEW);
        r->type = mem_strdup(type ? type : "");
        if (own) {
                const char *folder = getenv("SPARK_LOG_DIR");
                r->daemon = mem_strdup(o->daemon);
                r->work_dir = mem_strdup(folder && *folder ? folder : o->log_dir);
                r->directory = mem_printf("%s/", r->work_dir);
                return true;
        }
        if (o->work_dir && ((app && executor && !driver) || (!app && !executor && driver))) {
                r->parts[0] = mem_strdup_if(app ? app : driver);
                r->parts[1] = mem_strdup_if(executor);
                r->n_parts = app ? 2 : 1;
                r->work_dir = mem_strdup(o->work_dir);
                r->directory =
                        mem_printf("%s/%s/%s%s", r->work_dir, r->parts[0], app ? r->parts[1] : "", app ? "/" : "");
                return true;
        }
        web_refuse(q, 400, "Request must specify either application or driver identifiers");
        return false;
}

void log_pages_serve(struct log_pages *p, struct web_request *q)
{
        struct log_request *r = new0(struct log_request);
        r->q = q;
        r->page = web_is(q, "/logPage");
        r->pages = p;
        list_prepend(&p->requests, r);
        if (!read_parameters(q, r)) {
                log_request_free(r);
                return;
        }
        if (!log_view_is_type(r->type)) {
                buf_puts(&r->range.text, "Error: Log type must be one of stderr, stdout, out");
                answer_log(r);
                return log_request_free(r);
        }
        r->work.data = r;
        if (uv_queue_work(p->options.loop, &r->work, read_log, log_pages_on_read) < 0) {
                web_refuse(q, 503, "This log cannot be read now.");
                log_request_free(r);
        }
}

struct log_pages *log_pages_new(const struct log_pages_options *options)
{
        struct log_pages *p = new0(struct log_pages);
        p->options = *options;
        return p;
}

/* Reads in progress end by themselves. */
void log_pages_free(struct log_pages *p)
{
        if (!p)
                return;
        for (struct log_request *r; (r = list_pop(&p->requests));) {
                r->pages = NULL;
                web_refuse(r->q, 503, "This process ends.");
        }
        free(p);
}
