/* The course of a stage as small charts; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "status/diagnosis.h"
#include "status/stage_series.h"

enum { CHART_WIDTH = 300, CHART_HEIGHT = 80 };

static void chart_put_value(struct ui_page *p, double value, char unit)
{
        if (unit == 't')
                diagnosis_put_duration(p->b, (int64_t)value);
        else if (unit == 'b')
                diagnosis_put_bytes(p->b, (int64_t)value);
        else if (unit == '%')
                buf_printf(p->b, "%.0f %%", value);
        else
                buf_printf(p->b, value < 10 ? "%.1f" : "%.0f", value);
}

void page_put_chart(struct ui_page *p, const char *title, char unit, const struct page_chart_line *lines,
                    size_t n_lines, size_t n, int64_t wall_ms)
{
        double most = 0;
        for (size_t k = 0; k < n_lines; k++)
                for (size_t i = 0; i < n; i++)
                        most = MAX(most, lines[k].values[i]);
        if (most <= 0)
                return;
        html_put(p->b, "<figure class=\"chart\"><figcaption>%s, up to ", title);
        chart_put_value(p, most, unit);
        html_put(p->b, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", CHART_WIDTH,
                 CHART_HEIGHT + 16, title);
        html_put(p->b, "<path class=\"axis\" d=\"M0 %dH%d\"/>", CHART_HEIGHT, CHART_WIDTH);
        for (size_t k = 0; k < n_lines; k++) {
                html_put(p->b, "<path class=\"line %s\" d=\"", lines[k].class);
                for (size_t i = 0; i < n; i++)
                        buf_printf(p->b, "%s%.0f %.0f", i ? "L" : "M", ((double)i + 0.5) * CHART_WIDTH / (double)n,
                                   CHART_HEIGHT - lines[k].values[i] / most * (CHART_HEIGHT - 4));
                html_put(p->b, "\"><title>%s</title></path>", lines[k].name);
        }
        html_put(
                p->b,
                "<text class=\"tick\" x=\"0\" y=\"%d\">0</text><text class=\"tick end\" x=\"%d\" y=\"%d\">%u</text></svg>",
                CHART_HEIGHT + 13, CHART_WIDTH, CHART_HEIGHT + 13, wall_ms);
        if (n_lines > 1) {
                buf_puts(p->b, "<ul class=\"legend\">");
                for (size_t k = 0; k < n_lines; k++)
                        html_put(p->b, "<li><i class=\"l-%s\"></i>%s</li>", lines[k].class, lines[k].name);
                buf_puts(p->b, "</ul>");
        }
        buf_puts(p->b, "</figure>\n");
}

void page_put_stage_series(struct ui_page *p, const struct status_stage *stage)
{
        struct stage_series s;
        struct page_chart_line running = {"running tasks", "c1"}, ended = {"ended", "c1"},
                               failed = {"did not succeed", "c3"};
        struct page_chart_line read = {"read", "c1"}, written = {"written", "c2"};
        struct page_chart_line times[] = {{"median", "c1"}, {"95 %", "c2"}, {"longest", "c3"}};
        stage_series_make(stage, p->now_ms, &s);
        if (s.n < 2)
                return;
        double wall = (double)(s.end_ms - s.begin_ms) / (double)s.n, minutes = wall / 60000, seconds = wall / 1000;
        for (size_t i = 0; i < s.n; i++) {
                running.values[i] = s.slices[i].running;
                ended.values[i] = (double)s.slices[i].ended / minutes;
                failed.values[i] = (double)s.slices[i].failed / minutes;
                read.values[i] = (double)s.slices[i].read_bytes / seconds;
                written.values[i] = (double)s.slices[i].written_bytes / seconds;
                for (int k = 0; k < SERIES_PERCENTILES; k++)
                        times[k].values[i] = (double)s.slices[i].percentiles[k];
        }
        const struct page_chart_line tasks[] = {ended, failed}, bytes[] = {read, written};
        page_begin_section(p, "series", "Course of the Stage", true);
        buf_puts(p->b, "<div class=\"charts\">");
        page_put_chart(p, "Running tasks", 'n', &running, 1, s.n, s.end_ms - s.begin_ms);
        page_put_chart(p, "Tasks a minute", 'n', tasks, ARRAY_SIZE(tasks), s.n, s.end_ms - s.begin_ms);
        page_put_chart(p, "Bytes a second", 'b', bytes, ARRAY_SIZE(bytes), s.n, s.end_ms - s.begin_ms);
        page_put_chart(p, "Duration of tasks that ended", 't', times, ARRAY_SIZE(times), s.n, s.end_ms - s.begin_ms);
        buf_puts(p->b, "</div>\n");
        page_end_section(p);
}
