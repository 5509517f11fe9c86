/* Timelines as SVG; see page.h. Colours are classes of the style sheet, for light and dark pages. */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <stdio.h>

/* --------------------------------------------------------------------------------------------------- timelines */

enum { TIMELINE_WIDTH = 1000, TIMELINE_ROW = 20, TIMELINE_AXIS = 22, TIMELINE_MAX_ROWS = 40 };

static int page_span_compare(const void *a, const void *b)
{
        const struct page_span *x = a, *y = b;
        return (x->from_ms > y->from_ms) - (x->from_ms < y->from_ms);
}

static double timeline_x(int64_t ms, int64_t from_ms, int64_t to_ms)
{
        if (ms <= from_ms)
                return 0;
        return ms >= to_ms ? TIMELINE_WIDTH : (double)(ms - from_ms) / (double)(to_ms - from_ms) * TIMELINE_WIDTH;
}

/* The axis: five marks with the time since the beginning. */
static void timeline_put_axis(struct ui_page *p, int height, int64_t from_ms, int64_t to_ms)
{
        enum { MARKS = 5 };
        for (int i = 0; i < MARKS; i++) {
                int x = i * TIMELINE_WIDTH / MARKS;
                html_put(p->b, "<path class=\"axis\" d=\"M%d 0V%d\"/><text class=\"tick\" x=\"%d\" y=\"%d\">+%u</text>",
                         x, height, x + 4, height - 6, (to_ms - from_ms) / MARKS * i);
        }
}

static void timeline_put_span(struct ui_page *p, const struct page_span *span, int row, int64_t from_ms, int64_t to_ms)
{
        double x = timeline_x(span->from_ms, from_ms, to_ms), end = timeline_x(span->to_ms, from_ms, to_ms);
        double width = MAX(end - x, 2.0);
        if (span->href)
                html_put(p->b, "<a href=\"%s%s\">", p->q->base, span->href);
        buf_printf(p->b, "<rect x=%.1f y=%d width=%.1f", MIN(x, TIMELINE_WIDTH - 2.0), row * TIMELINE_ROW + 1, width);
        html_put(p->b, " class=%s><title>%s</title></rect>", span->class, span->title);
        /* A label that has no room would hide its neighbour. */
        if (span->label && width > 7.0 * (double)strlen(span->label) + 8) {
                buf_printf(p->b, "<text x=\"%.1f\" y=\"%d\">", x + 5, row * TIMELINE_ROW + TIMELINE_ROW - 6);
                html_put(p->b, "%s</text>", span->label);
        }
        buf_puts(p->b, span->href ? "</a>\n" : "\n");
}

void page_put_timeline(struct ui_page *p, page_spans *spans, int64_t from_ms, int64_t to_ms)
{
        int64_t ends[TIMELINE_MAX_ROWS];
        int n_rows = 0;
        int *rows = new_array(int, spans->len);
        if (spans->len)
                qsort(spans->data, spans->len, sizeof(*spans->data), page_span_compare);
        from_ms = MIN(MAX(from_ms, (int64_t)0), INT64_MAX / 4); /* a damaged time */
        to_ms = MIN(MAX(to_ms, from_ms + 1), INT64_MAX / 2);
        for (size_t i = 0; i < spans->len; i++) {
                int row = 0;
                while (row < n_rows && ends[row] > spans->data[i].from_ms)
                        row++;
                rows[i] = row < TIMELINE_MAX_ROWS ? row : -1;
                if (rows[i] < 0)
                        continue;
                n_rows = MAX(n_rows, row + 1);
                ends[row] = spans->data[i].to_ms;
        }
        int height = n_rows * TIMELINE_ROW + TIMELINE_AXIS, hidden = 0;
        html_put(p->b,
                 "<div class=\"wide\" tabindex=\"0\"><svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-label=\"Timeline of %u\">\n",
                 TIMELINE_WIDTH, height, to_ms - from_ms);
        timeline_put_axis(p, height, from_ms, to_ms);
        for (size_t i = 0; i < spans->len; i++) {
                if (rows[i] >= 0)
                        timeline_put_span(p, &spans->data[i], rows[i], from_ms, to_ms);
                hidden += rows[i] < 0;
                free(spans->data[i].href);
                free(spans->data[i].title);
        }
        buf_puts(p->b, "</svg></div>\n");
        if (hidden)
                html_put(p->b, "<p class=\"nothing\">%d more ran at the same time.</p>\n", hidden);
        vec_deinit(spans);
        free(rows);
}
