/* Frame and values of all pages; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "conf/units.h"

#include <inttypes.h>

/* ------------------------------------------------------------------------------------------------------- frame */

static void page_put_tabs(struct ui_page *p, enum page_tab current)
{
        static const struct {
                const char *name, *path;
        } tabs[] = {
                [TAB_JOBS] = {"Jobs", "jobs"},
                [TAB_STAGES] = {"Stages", "stages"},
                [TAB_STORAGE] = {"Storage", "storage"},
                [TAB_ENVIRONMENT] = {"Environment", "environment"},
                [TAB_EXECUTORS] = {"Executors", "executors"},
                [TAB_DRIVER] = {"Driver", "driver"},
        };
        html_put(&p->nav, "<nav class=\"tabs\" aria-label=\"Pages\">");
        for (size_t i = 0; i < ARRAY_SIZE(tabs); i++)
                html_put(&p->nav,
                         i == current ? "<a href=\"%s/%s/\" aria-current=\"page\">%s</a>" : "<a href=\"%s/%s/\">%s</a>",
                         p->q->base, tabs[i].path, tabs[i].name);
        if (p->q->source->is_history)
                html_put(&p->nav, "<a href=\"%s/\">All applications</a>", p->q->site);
        buf_puts(&p->nav, "</nav>");
}

/* Events were lost: the numbers of the page are corrected. */
static void page_put_notice(struct ui_page *p)
{
        const struct status_totals *t = &p->s->totals;
        if (!t->lost_ends && !t->unknown_ends)
                return;
        html_put(p->b,
                 "<p class=\"notice\" role=\"note\">Events were lost: %D tasks have no end and %D no start. Counts of "
                 "ended stages are corrected; sums lack what the lost events held. A larger "
                 "spark.scheduler.listenerbus.eventqueue.capacity avoids this.</p>\n",
                 t->lost_ends, t->unknown_ends);
}

void page_put_style(struct buf *head, const char *site)
{
        char tag[HTML_TAG_SIZE];
        html_put(head, "<link rel=\"stylesheet\" href=\"%s/static/firesteel-ui.css?v=%s\">", site,
                 html_content_tag(page_style_sheet, tag));
}

void page_begin(struct ui_page *p, enum page_tab tab, const char *format, ...)
{
        const struct status_application *a = &p->s->application;
        char tag[HTML_TAG_SIZE];
        va_list args;
        va_start(args, format);
        buf_vprintf(&p->title, format, args);
        va_end(args);
        if (a->name)
                buf_printf(&p->subtitle, "%s (%s)", a->name, a->id ? a->id : "");
        page_put_style(&p->head, p->q->site);
        if (p->view->is_live)
                html_put(&p->head, "<script src=\"%s/static/firesteel-ui.js?v=%s\" defer></script>", p->q->site,
                         html_content_tag(page_script, tag));
        page_put_tabs(p, tab);
        p->frame = (struct html_page){.base = p->q->base,
                                      .site = p->q->site,
                                      .title = buf_text(&p->title),
                                      .subtitle = buf_text(&p->subtitle),
                                      .head = buf_text(&p->head),
                                      .nav = buf_text(&p->nav),
                                      .user = p->q->user};
        html_begin(p->b, &p->frame);
        page_put_notice(p);
}

void page_end(struct ui_page *p)
{
        if (p->kill_action)
                html_put(p->b,
                         "<form id=\"kill\" action=\"%s%s\" method=\"POST\"><input type=\"hidden\" name=\"csrfToken\" "
                         "value=\"%s\"></form>\n",
                         p->q->base, p->kill_action, p->q->token);
        html_end(p->b, &p->frame);
        p->a->status = 200;
        p->a->type = "text/html;charset=utf-8";
}

void page_fail(struct ui_page *p, int status, const char *format, ...)
{
        struct buf text = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&text, format, args);
        va_end(args);
        p->kill_action = NULL;
        buf_reset(p->b);
        buf_reset(&p->head);
        buf_reset(&p->nav);
        buf_reset(&p->title);
        buf_reset(&p->subtitle);
        page_begin(p, TAB_NONE, "%s", status == 200 ? "Nothing to show" : status == 404 ? "Not found" : "Error");
        html_put(p->b, "<p class=\"nothing\">%s</p>\n", buf_text(&text));
        page_end(p);
        p->a->status = status;
        buf_deinit(&text);
}

bool page_get_id(struct ui_page *p, const char *name, int *id)
{
        int64_t value;
        int r = form_get_int(p->q->query, name, &value);
        if (r == 1 && value >= 0 && value <= INT32_MAX) {
                *id = (int)value;
                return true;
        }
        page_fail(p, 400, r ? "The parameter '%s' is not a valid number." : "The parameter '%s' is missing.", name);
        return false;
}

void page_begin_section(struct ui_page *p, const char *id, const char *heading, bool open)
{
        html_put(p->b,
                 open ? "<details open id=\"%s\"><summary><h2>%s</h2></summary>\n"
                      : "<details id=\"%s\"><summary><h2>%s</h2></summary>\n",
                 id, heading);
}

void page_end_section(struct ui_page *p)
{
        buf_puts(p->b, "</details>\n");
}

/* ------------------------------------------------------------------------------------------------------ values */

void page_put_bytes(struct ui_page *p, int64_t bytes)
{
        units_put_bytes(p->b, bytes);
}

void page_put_bytes_records(struct ui_page *p, int64_t bytes, int64_t records)
{
        if (!bytes && !records)
                return;
        units_put_bytes(p->b, bytes);
        if (records)
                html_put(p->b, " / %D", records);
}

void page_put_number_td(struct ui_page *p)
{
        buf_puts(p->b, p->right ? "<td>" : "<td class=n>");
}

void page_put_bytes_cell(struct ui_page *p, int64_t bytes)
{
        page_put_number_td(p);
        if (bytes)
                units_put_bytes(p->b, bytes);
}

void page_put_duration_cell(struct ui_page *p, int64_t ms)
{
        page_put_number_td(p);
        html_put(p->b, ms < 0 ? "-" : "%u", ms);
}

void page_put_number_cell(struct ui_page *p, int64_t number)
{
        page_put_number_td(p);
        html_put(p->b, "%D", number);
}

static void page_put_width(struct ui_page *p, const char *class, int64_t part, int64_t whole)
{
        if (part > 0 && whole > 0)
                buf_printf(p->b, "<i class=\"%s\" style=\"width:%.1f%%\"></i>", class,
                           MIN((double)part / (double)whole, 1.0) * 100);
}

void page_put_progress(struct ui_page *p, int64_t done, int64_t running, int64_t failed, int64_t skipped, int64_t total)
{
        html_put(p->b, "%D/%D", done, total);
        if (running > 0)
                html_put(p->b, " (%D running)", running);
        if (failed > 0)
                html_put(p->b, " (%D failed)", failed);
        if (skipped > 0)
                html_put(p->b, " (%D skipped)", skipped);
        buf_puts(p->b, "<span class=\"bar\" aria-hidden=\"true\">");
        done = MIN(done, total);
        page_put_width(p, "b-done", done, total);
        page_put_width(p, "b-run", MIN(running, total - done), total);
        buf_puts(p->b, "</span>");
}

void page_put_parts(struct ui_page *p, const char *label, const struct page_part *parts, size_t n)
{
        int64_t whole = 0;
        for (size_t i = 0; i < n; i++)
                whole += parts[i].ms;
        if (whole <= 0)
                return;
        html_put(p->b,
                 "<figure class=\"parts\"><figcaption>%s: %u</figcaption><div class=\"bar wide-bar\" "
                 "aria-hidden=\"true\">",
                 label, whole);
        for (size_t i = 0; i < n; i++)
                page_put_width(p, parts[i].class, parts[i].ms, whole);
        buf_puts(p->b, "</div><ul class=\"legend\">");
        for (size_t i = 0; i < n; i++)
                if (parts[i].ms > whole / 200) /* half a per cent */
                        html_put(p->b, "<li><i class=\"%s\"></i>%s %u (%d&nbsp;%%)</li>", parts[i].class, parts[i].name,
                                 parts[i].ms, (int)(parts[i].ms * 100 / whole));
        buf_puts(p->b, "</ul></figure>\n");
}

void page_put_kill(struct ui_page *p, const char *what, int id)
{
        const struct app_view_class *class = p->view->class;
        bool is_job = strcmp(what, "job") == 0;
        if (!p->view->is_live || !p->q->may_modify || !p->q->token)
                return;
        const char *action = is_job ? "/jobs/job/kill/" : "/stages/stage/kill/";
        if (p->kill_action && strcmp(p->kill_action, action) != 0)
                return;
        if (is_job ? !class->kill_job : !class->kill_stage)
                return;
        html_put(p->b, " <button name=id value=%d form=kill title=\"End %s %d\">kill</button>", id, what, id);
        p->kill_action = action;
}

void page_put_stage_link(struct ui_page *p, const struct status_stage *stage)
{
        html_put(p->b, "<a href=\"%s/stages/stage/?id=%d&amp;attempt=%d\">", p->q->base, stage->id, stage->attempt);
        if (stage->attempt)
                html_put(p->b, "%d (retry %d)</a>", stage->id, stage->attempt);
        else
                html_put(p->b, "%d</a>", stage->id);
}

const char *page_job_state(enum status_job_state state)
{
        static const char *const names[] = {"RUNNING", "SUCCEEDED", "FAILED"};
        return names[state];
}

const char *page_stage_state(enum status_stage_state state)
{
        static const char *const names[] = {"PENDING", "ACTIVE", "COMPLETE", "FAILED", "SKIPPED"};
        return names[state];
}

void page_put_logs(struct ui_page *p, const struct strmap *logs)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(logs, e));)
                if (html_is_link(e->value))
                        html_put(p->b, "<a href=\"%s\">%s</a> ", e->value, e->key);
}
