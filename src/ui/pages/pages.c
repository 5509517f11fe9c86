/* Chooses a page by its path; see pages.h. */
#include "ui/pages/page.h"

#include "base/mem.h"

static const struct {
        const char *path;
        void (*serve)(struct ui_page *p);
} page_routes[] = {
        {"/jobs", page_serve_jobs},
        {"/jobs/job", page_serve_job},
        {"/stages", page_serve_stages},
        {"/stages/stage", page_serve_stage},
        {"/stages/pool", page_serve_pool},
        {"/storage", page_serve_storage},
        {"/storage/rdd", page_serve_rdd},
        {"/environment", page_serve_environment},
        {"/executors", page_serve_executors},
        {"/executors/threadDump", page_serve_threads},
        {"/driver", page_serve_driver},
        {"/source", page_serve_source},
        {"/executors/logPage", page_serve_log},
        {"/executors/log", page_serve_log_text},
};

static void pages_serve_static(const struct ui_request *q, struct ui_answer *a)
{
        bool is_style = strcmp(q->path, "/static/firesteel-ui.css") == 0;
        if (!is_style && strcmp(q->path, "/static/firesteel-ui.js") != 0)
                return;
        a->status = 200;
        a->is_lasting = true;
        a->type = is_style ? "text/css;charset=utf-8" : "text/javascript;charset=utf-8";
        buf_puts(&a->body, is_style ? page_style_sheet : page_script);
}

static void page_serve_unknown(struct ui_page *p)
{
        page_fail(p, 404, "There is no page %.200s. The links above lead to the pages of this application.",
                  p->q->path);
}

void pages_serve(const struct ui_request *q, struct ui_answer *a)
{
        if (!q->view) {
                pages_serve_static(q, a);
                return;
        }
        struct ui_page p = {.q = q, .a = a, .b = &a->body, .view = q->view, .s = q->view->status};
        void (*serve)(struct ui_page *) = page_serve_unknown;
        for (size_t i = 0; i < ARRAY_SIZE(page_routes); i++)
                if (strcmp(q->path, page_routes[i].path) == 0)
                        serve = page_routes[i].serve;
        app_view_read(q->view);
        p.now_ms = app_view_now(q->view, q->now_ms);
        serve(&p);
        app_view_end(q->view);
        buf_deinit(&p.head);
        buf_deinit(&p.nav);
        buf_deinit(&p.title);
        buf_deinit(&p.subtitle);
}
