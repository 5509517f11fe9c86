/* Two applications of a history server side by side; see pages.h. */
#include "ui/pages/pages.h"

#include "base/error.h"
#include "base/mem.h"
#include "status/comparison.h"
#include "ui/pages/page.h"
#include "web/html.h"

#include <errno.h>

/* Tasks of which the page reads single ones, of each application. */
enum { COMPARE_MAX_ROWS = 2000000, COMPARE_MAX_PAIRS = 200 };

/*
 * Summarizes the application that a parameter names: "ID" or "ID/ATTEMPT". Returns false with a sentence in @problem,
 * or with @a->is_early.
 */
static bool compare_open(const struct ui_request *q, struct ui_answer *a, const char *name, struct run_summary *run,
                         struct buf *problem)
{
        const struct app_source_class *class = q->source->class;
        struct fst_error error = FST_ERROR_INIT;
        struct app_view *view = NULL;
        size_t n = strcspn(name, "/");
        _cleanup_free_ char *id = mem_strndup(name, n);
        int r = class->open(q->source, id, name[n] ? name + n + 1 : NULL, &view, &error);
        if (r < 0) {
                if (r == -EAGAIN)
                        a->is_early = true;
                else if (r == -ENOENT)
                        buf_printf(problem, "Application %s not found.", name);
                else
                        buf_puts(problem, error_message(&error));
                error_deinit(&error);
                return false;
        }
        bool allowed = !view->class->may_view || view->class->may_view(view, q->user);
        if (allowed) {
                app_view_read(view);
                run_summary_init(run, view->status, app_view_now(view, q->now_ms), COMPARE_MAX_ROWS);
                app_view_end(view);
                a->is_early |= app_view_is_damaged(view);
        } else {
                buf_printf(problem, "User %s is not authorized to see application %s.", q->user ? q->user : "(unknown)",
                           name);
        }
        class->release(q->source, view);
        return allowed;
}

static void compare_put_form(const struct ui_request *q, struct buf *b, const char *first, const char *second)
{
        html_put(
                b,
                "<form class=\"limit\" action=\"%s/compare/\" method=\"GET\"><label>First run <input name=\"a\" "
                "value=\"%s\" required></label> <label>Second run <input name=\"b\" value=\"%s\" required></label> "
                "<button type=\"submit\">compare</button><br><small>ids of applications, or ID/ATTEMPT</small></form>\n",
                q->site, first, second);
}

static void compare_put_totals(struct buf *b, const struct run_summary *first, const struct run_summary *second)
{
        html_put(b,
                 "<h2>Totals</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th></th><th class=n>%s</th>"
                 "<th class=n>%s</th><th class=n>Change</th></tr></thead>\n<tbody>\n",
                 first->id, second->id);
        for (int i = 0; i < RUN_TOTALS; i++) {
                int64_t x = first->totals[i], y = second->totals[i];
                if (!x && !y)
                        continue;
                html_put(b, "<tr><th scope=\"row\">%s</th><td class=n>", run_total_name((enum run_total)i));
                run_total_put(b, (enum run_total)i, x);
                buf_puts(b, "<td class=n>");
                run_total_put(b, (enum run_total)i, y);
                buf_puts(b, "<td class=n>");
                run_total_put_change(b, (enum run_total)i, x, y);
                buf_puts(b, "\n");
        }
        buf_puts(b, "</tbody></table></div>\n");
}

static void compare_put_stage_cells(struct buf *b, const struct run_stage *stage)
{
        if (!stage) {
                buf_puts(b, "<td class=n>-<td class=n>-");
                return;
        }
        buf_printf(b, stage->attempt ? "<td class=n>%d.%d<td class=n>" : "<td class=n>%d<td class=n>", stage->id,
                   stage->attempt);
        diagnosis_put_duration(b, stage->wall_ms);
}

static void compare_put_stages(struct buf *b, const struct run_summary *first, const struct run_summary *second)
{
        run_pairs pairs = {0};
        run_compare(first, second, &pairs);
        html_put(
                b,
                "<h2>Stages, those that changed most first</h2>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>"
                "<th class=n>Stage</th><th class=n>First Run</th><th class=n>Stage</th><th class=n>Second Run</th>"
                "<th class=n>Change</th><th>Name</th><th>Why</th></tr></thead>\n<tbody>\n");
        for (size_t i = 0; i < pairs.len && i < COMPARE_MAX_PAIRS; i++) {
                const struct run_pair *pair = &pairs.data[i];
                struct buf reason = BUF_INIT;
                run_pair_put_reason(pair, &reason);
                buf_puts(b, "<tr>");
                compare_put_stage_cells(b, pair->a);
                compare_put_stage_cells(b, pair->b);
                buf_puts(b, "<td class=n>");
                run_pair_put_change(pair, b);
                html_put(b, "<td class=text>%s<td class=text>%s\n", pair->a ? pair->a->name : pair->b->name,
                         buf_text(&reason));
                buf_deinit(&reason);
        }
        buf_puts(b, "</tbody></table></div>\n");
        if (pairs.len > COMPARE_MAX_PAIRS)
                html_put(b, "<p class=\"nothing\">%D more stages changed less.</p>\n",
                         (int64_t)(pairs.len - COMPARE_MAX_PAIRS));
        vec_deinit(&pairs);
}

void pages_serve_comparison(const struct ui_request *q, struct ui_answer *a)
{
        const char *names[] = {form_get(q->query, "a"), form_get(q->query, "b")};
        struct run_summary runs[2];
        struct buf head = BUF_INIT, problem = BUF_INIT;
        int n = 0;
        page_put_style(&head, q->site);
        const struct html_page page = {.base = q->site,
                                       .title = "Compare Two Runs",
                                       .head = buf_text(&head),
                                       .back_url = "/",
                                       .back_text = "All applications",
                                       .user = q->user};
        html_begin(&a->body, &page);
        compare_put_form(q, &a->body, names[0], names[1]);
        if (names[0] && names[1])
                while (n < 2 && compare_open(q, a, names[n], &runs[n], &problem))
                        n++;
        if (n == 2) {
                compare_put_totals(&a->body, &runs[0], &runs[1]);
                compare_put_stages(&a->body, &runs[0], &runs[1]);
        } else if (problem.len) {
                html_put(&a->body, "<p class=\"nothing\">%s</p>\n", buf_text(&problem));
        }
        html_end(&a->body, &page);
        a->status = problem.len ? 404 : 200;
        a->type = "text/html;charset=utf-8";
        while (n > 0)
                run_summary_deinit(&runs[--n]);
        buf_deinit(&head);
        buf_deinit(&problem);
}
