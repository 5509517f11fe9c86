/* Timelines and graphs as SVG; see page.h. Colours are classes of the style sheet, for light and dark pages. */
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

/* ------------------------------------------------------------------------------------------------------ graphs */

enum { MAX_NODES = 200, NODE_WIDTH = 210, NODE_HEIGHT = 44, NODE_GAP_X = 20, NODE_GAP_Y = 34 };

struct dag_picture_node {
        int id, layer, place;
        const char *class;
        char *title, *line; /* two lines; owned */
        char *href;         /* below q->base; owned, NULL: none */
};

struct dag_picture_edge {
        size_t from, to; /* nodes */
};

struct dag_picture {
        VEC(struct dag_picture_node) nodes;
        VEC(struct dag_picture_edge) edges;
        size_t n_left_out;
};

static size_t dag_picture_find(const struct dag_picture *g, int id)
{
        for (size_t i = 0; i < g->nodes.len; i++)
                if (g->nodes.data[i].id == id)
                        return i;
        return SIZE_MAX;
}

static void dag_picture_add_edge(struct dag_picture *g, int from, size_t to)
{
        size_t at = dag_picture_find(g, from);
        if (at != SIZE_MAX && at != to)
                vec_push(&g->edges, (struct dag_picture_edge){at, to});
}

/* Puts each node below all nodes that it depends on. Damaged events may have cycles: the number of rounds is limited.
 */
static int dag_picture_set_layers(struct dag_picture *g)
{
        int n_layers = 0;
        bool changed = true;
        for (size_t round = 0; changed && round < g->nodes.len; round++) {
                changed = false;
                for (size_t i = 0; i < g->edges.len; i++) {
                        const struct dag_picture_node *from = &g->nodes.data[g->edges.data[i].from];
                        struct dag_picture_node *to = &g->nodes.data[g->edges.data[i].to];
                        if (to->layer <= from->layer && from->layer + 1 < MAX_NODES) {
                                to->layer = from->layer + 1;
                                changed = true;
                        }
                }
        }
        for (size_t i = 0; i < g->nodes.len; i++) {
                n_layers = MAX(n_layers, g->nodes.data[i].layer + 1);
                for (size_t k = 0; k < i; k++)
                        g->nodes.data[i].place += g->nodes.data[k].layer == g->nodes.data[i].layer;
        }
        return n_layers;
}

/* Shortens a text to what a node has room for, at the border of a character. */
static char *dag_picture_fit(const char *text)
{
        enum { ROOM = 30 };
        size_t n = strlen(text);
        if (n <= ROOM)
                return mem_strdup(text);
        n = ROOM - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
                n--;
        return mem_printf("%.*s\xe2\x80\xa6", (int)n, text);
}

static void dag_picture_put_node(struct ui_page *p, const struct dag_picture_node *node)
{
        int x = node->place * (NODE_WIDTH + NODE_GAP_X) + 1, y = node->layer * (NODE_HEIGHT + NODE_GAP_Y) + 1;
        _cleanup_free_ char *title = dag_picture_fit(node->title), *line = dag_picture_fit(node->line);
        if (node->href)
                html_put(p->b, "<a href=\"%s%s\">", p->q->base, node->href);
        html_put(
                p->b,
                "<rect class=\"node %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"><title>%s\n%s</title></rect>"
                "<text x=\"%d\" y=\"%d\">%s</text><text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>",
                node->class, x, y, NODE_WIDTH, NODE_HEIGHT, node->title, node->line, x + 10, y + 18, title, x + 10,
                y + 35, line);
        buf_puts(p->b, node->href ? "</a>\n" : "\n");
}

static void dag_picture_put_edge(struct ui_page *p, const struct dag_picture_node *from,
                                 const struct dag_picture_node *to)
{
        int x1 = from->place * (NODE_WIDTH + NODE_GAP_X) + NODE_WIDTH / 2;
        int y1 = from->layer * (NODE_HEIGHT + NODE_GAP_Y) + NODE_HEIGHT + 1;
        int x2 = to->place * (NODE_WIDTH + NODE_GAP_X) + NODE_WIDTH / 2;
        int y2 = to->layer * (NODE_HEIGHT + NODE_GAP_Y) + 1;
        html_put(p->b, "<path class=\"edge\" d=\"M%d %dC%d %d %d %d %d %d\"/>", x1, y1, x1, y1 + 20, x2, y2 - 20, x2,
                 y2);
}

static void dag_picture_put(struct ui_page *p, struct dag_picture *g, const char *label)
{
        int n_layers = dag_picture_set_layers(g), widest = 0;
        for (size_t i = 0; i < g->nodes.len; i++)
                widest = MAX(widest, g->nodes.data[i].place + 1);
        int width = widest * (NODE_WIDTH + NODE_GAP_X), height = n_layers * (NODE_HEIGHT + NODE_GAP_Y) - NODE_GAP_Y + 4;
        html_put(p->b,
                 "<div class=\"wide\" tabindex=\"0\"><svg class=\"graph\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                 "height=\"%d\" role=\"img\" aria-label=\"%s\">\n",
                 width, height, width, height, label);
        for (size_t i = 0; i < g->edges.len; i++)
                dag_picture_put_edge(p, &g->nodes.data[g->edges.data[i].from], &g->nodes.data[g->edges.data[i].to]);
        for (size_t i = 0; i < g->nodes.len; i++)
                dag_picture_put_node(p, &g->nodes.data[i]);
        buf_puts(p->b, "</svg></div>\n");
        if (g->n_left_out)
                html_put(p->b, "<p class=\"nothing\">%D more are not drawn.</p>\n", (int64_t)g->n_left_out);
        for (size_t i = 0; i < g->nodes.len; i++) {
                free(g->nodes.data[i].title);
                free(g->nodes.data[i].line);
                free(g->nodes.data[i].href);
        }
        vec_deinit(&g->nodes);
        vec_deinit(&g->edges);
}

void page_put_stage_graph(struct ui_page *p, const struct status_stage *stage)
{
        struct dag_picture g = {.n_left_out = stage->rdds.len > MAX_NODES ? stage->rdds.len - MAX_NODES : 0};
        for (size_t i = 0; i < stage->rdds.len && i < MAX_NODES; i++) {
                const struct status_rdd_info *r = &stage->rdds.data[i];
                struct dag_picture_node node = {.id = r->id, .class = r->level != FST_STORAGE_NONE ? "cached" : ""};
                node.title = mem_printf("%s [%d]%s%s", r->name, r->id, r->level != FST_STORAGE_NONE ? ", cached" : "",
                                        r->barrier ? ", barrier" : "");
                node.line = mem_strdup(r->call_site ? r->call_site : "");
                if (r->level != FST_STORAGE_NONE && status_find_rdd(p->s, r->id))
                        node.href = mem_printf("/storage/rdd/?id=%d", r->id);
                vec_push(&g.nodes, node);
        }
        for (size_t i = 0; i < g.nodes.len; i++)
                for (int k = 0; k < stage->rdds.data[i].n_parents; k++)
                        dag_picture_add_edge(&g, stage->rdds.data[i].parent_ids[k], i);
        dag_picture_put(p, &g, "RDDs of the stage");
}

/* Returns the latest attempt of a stage that is retained. */
static const struct status_stage *job_stage(const struct status *s, int id)
{
        for (size_t i = s->stages.len; i-- > 0;)
                if (s->stages.data[i]->id == id)
                        return s->stages.data[i];
        return NULL;
}

void page_put_job_graph(struct ui_page *p, const struct status_job *job)
{
        struct dag_picture g = {.n_left_out = job->stages.len > MAX_NODES ? job->stages.len - MAX_NODES : 0};
        for (size_t i = 0; i < job->stages.len && i < MAX_NODES; i++) {
                const struct status_stage *stage = job_stage(p->s, job->stages.data[i].id);
                struct dag_picture_node node = {.id = job->stages.data[i].id, .class = "skipped"};
                node.title = mem_printf("Stage %d%s%s", node.id, stage ? ", " : "",
                                        stage ? page_stage_state(stage->state) : "");
                node.line = mem_strdup(stage ? stage->name : "not retained");
                if (stage) {
                        node.href = mem_printf("/stages/stage/?id=%d&attempt=%d", stage->id, stage->attempt);
                        node.class = stage->state == STATUS_STAGE_SKIPPED    ? "skipped"
                                     : stage->state == STATUS_STAGE_FAILED   ? "s-failed"
                                     : stage->state == STATUS_STAGE_COMPLETE ? "s-done"
                                                                             : "s-run";
                }
                vec_push(&g.nodes, node);
        }
        for (size_t i = 0; i < g.nodes.len; i++) {
                const struct status_stage *stage = job_stage(p->s, g.nodes.data[i].id);
                for (size_t k = 0; stage && k < stage->parents.len; k++)
                        dag_picture_add_edge(&g, stage->parents.data[k], i);
        }
        dag_picture_put(p, &g, "Stages of the job");
}
