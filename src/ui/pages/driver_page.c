/* The driver's scheduler loop, listener queues and message rates; see page.h. They are its metrics. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "metrics/metrics_snapshot.h"

#include <stdio.h>

/* The metrics of one source: "driver.LiveListenerBus." */
static const struct driver_section {
        const char *source, *id, *heading, *text;
} driver_sections[] = {
        {"DAGScheduler.", "scheduler", "Scheduler Loop",
         "How long an event occupies the scheduler's thread, and what waits for it."},
        {"LiveListenerBus.", "bus", "Listener Queues",
         "Events that were posted and dropped, and how long listeners take. A queue that grows drops events."},
        {"Rpc.", "messages", "Messages",
         "Messages to and from executors, by type: how many, and how many a second in the last minute. Their parts of "
         "tasks are batched."},
        {"BlockManager.", "blocks", "Block Manager", "Memory for blocks, in MB, over all executors."},
        {"ExecutorAllocationManager.", "allocation", "Dynamic Allocation",
         "Executors that were asked for and removed."},
        {"appStatus.", "status", "Application Status", "Counts since the start."},
};

/* Returns the part of a metric's name behind its source, or NULL. */
static const char *driver_name_in(const struct metric_sample *m, const char *source)
{
        static const char driver[] = "driver.";
        const char *at = strstr(m->name, driver);
        at = at ? at + strlen(driver) : m->name; /* behind the namespace */
        return text_starts_with(at, source) ? at + strlen(source) : NULL;
}

static void driver_put_double(struct ui_page *p, double value, const char *unit)
{
        char text[48];
        snprintf(text, sizeof(text), value >= 100 || value == (double)(int64_t)value ? "%.0f%s" : "%.2f%s", value,
                 unit);
        html_put(p->b, "%s", text);
}

/* The rest of a metric's row: its value, its rate, its distribution. */
static void driver_put_metric(struct ui_page *p, const struct metric_sample *m)
{
        bool rated = m->kind == METRIC_METER || m->kind == METRIC_TIMER;
        bool spread = m->kind == METRIC_HISTOGRAM || m->kind == METRIC_TIMER;
        double scale = m->kind == METRIC_TIMER ? 1e-6 : 1;
        const char *unit = m->kind == METRIC_TIMER ? " ms" : "";
        if (m->kind == METRIC_TEXT)
                html_put(p->b, "<td>%s", m->text);
        else
                page_put_number_cell(p, m->value);
        buf_puts(p->b, "<td class=n>");
        if (rated)
                driver_put_double(p, m->rates.m1, "/s");
        const double shown[] = {m->distribution.percentile[0], m->distribution.percentile[2],
                                m->distribution.percentile[4], (double)m->distribution.max};
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
                buf_puts(p->b, "<td class=n>");
                if (spread)
                        driver_put_double(p, shown[i] * scale, unit);
        }
        buf_puts(p->b, "\n");
}

static void driver_put_section(struct ui_page *p, const struct driver_section *section,
                               const struct metrics_snapshot *all)
{
        size_t n = 0;
        for (size_t i = 0; i < all->samples.len; i++)
                n += driver_name_in(&all->samples.data[i], section->source) != NULL;
        if (!n)
                return;
        html_table_begin(p->b, section->id, section->heading, "Metric|#Value|#Last Minute|#Median|#95 %|#99 %|#Max", n,
                         "");
        for (size_t i = 0; i < all->samples.len; i++) {
                const char *name = driver_name_in(&all->samples.data[i], section->source);
                if (!name)
                        continue;
                html_put(p->b, "<tr><td class=\"key\">%s", name);
                driver_put_metric(p, &all->samples.data[i]);
        }
        html_table_end(p->b, n);
        html_put(p->b, "<p class=\"nothing\">%s</p>\n", section->text);
}

void page_serve_driver(struct ui_page *p)
{
        const struct status_totals *t = &p->s->totals;
        struct metrics_snapshot all = METRICS_SNAPSHOT_INIT;
        page_begin(p, TAB_DRIVER, "Driver");
        buf_puts(p->b, "<dl class=\"facts\">\n");
        html_put_fact(p->b, "Tasks", "%D succeeded, %D failed, %D killed, %D skipped", t->completed_tasks,
                      t->failed_tasks, t->killed_tasks, t->skipped_tasks);
        html_put_fact(p->b, "Stages", "%D completed, %D failed, %D skipped", t->completed_stages, t->failed_stages,
                      t->skipped_stages);
        html_put_fact(p->b, "Lost Events", "%D ends, %D starts of tasks", t->lost_ends, t->unknown_ends);
        buf_puts(p->b, "<dt>Memory for Tasks</dt><dd>");
        page_put_bytes(p, (int64_t)status_task_bytes(p->s));
        buf_puts(p->b, "</dd>\n</dl>\n");
        if (p->view->is_live && p->view->class->measure) {
                app_view_end(p->view); /* sources may lock the status */
                p->view->class->measure(p->view, &all);
                app_view_read(p->view);
        }
        if (!all.samples.len)
                buf_puts(p->b, "<p class=\"nothing\">Metrics of the driver are shown while it runs.</p>\n");
        metrics_sort(&all);
        for (size_t i = 0; i < ARRAY_SIZE(driver_sections); i++)
                driver_put_section(p, &driver_sections[i], &all);
        metrics_snapshot_deinit(&all);
        page_end(p);
}
