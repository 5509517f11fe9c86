/* The course of nodes as small charts, on the page of executors and beside the tasks of a stage; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <stdlib.h>

_Static_assert((int)NODE_POINTS <= (int)SERIES_SLICES, "a chart has room for all points");

bool page_put_node_charts(struct ui_page *p, const struct status_executor *x, int64_t from_ms, int64_t to_ms)
{
        struct node_point points[NODE_POINTS];
        struct page_chart_line cpu[] = {{"the node's processors", "c1"}},
                               used[] = {{"processors of the executor", "c2"}};
        struct page_chart_line memory[] = {{"memory", "c1"}}, bytes[] = {{"disks", "c1"}, {"network", "c2"}};
        size_t n = x->node ? node_series_get(x->node, from_ms, to_ms, points) : 0;
        if (n < 2)
                return false;
        for (size_t i = 0; i < n; i++) {
                cpu[0].values[i] = points[i].node_cpu * 100;
                used[0].values[i] = points[i].process_cpu;
                memory[0].values[i] = points[i].memory * 100;
                bytes[0].values[i] = points[i].disk_bytes;
                bytes[1].values[i] = points[i].net_bytes;
        }
        int64_t wall = points[n - 1].ms - points[0].ms;
        html_put(p->b, "<h3>Executor %s on %s</h3>\n<div class=charts>", x->id, x->host);
        page_put_chart(p, "Busy processors of the node", '%', cpu, 1, n, wall);
        page_put_chart(p, "Processors that the executor used", 'n', used, 1, n, wall);
        page_put_chart(p, "Used memory of the node", '%', memory, 1, n, wall);
        page_put_chart(p, "Bytes a second", 'b', bytes, 2, n, wall);
        buf_puts(p->b, "</div>\n");
        return true;
}

static int node_executor_compare(const void *a, const void *b)
{
        const struct status_executor_stage *const *x = a, *const *y = b;
        return ((*x)->task_ms < (*y)->task_ms) - ((*x)->task_ms > (*y)->task_ms);
}

void page_put_stage_nodes(struct ui_page *p, const struct status_stage *stage)
{
        enum { MAX_NODES = 3 };
        int64_t end = status_stage_is_live(stage) ? p->now_ms : stage->completion_ms;
        size_t n = stage->executors.len, shown = 0;
        if (stage->submission_ms <= 0)
                return;
        const struct status_executor_stage **order = new_array(const struct status_executor_stage *, n);
        for (size_t i = 0; i < n; i++)
                order[i] = &stage->executors.data[i];
        if (n)
                qsort(order, n, sizeof(*order), node_executor_compare);
        for (size_t i = 0; i < n && shown < MAX_NODES; i++) {
                const struct status_executor *x =
                        status_find_executor(p->s, p->s->executor_names.data[order[i]->executor].id);
                struct node_point points[NODE_POINTS];
                if (!x || !x->node || node_series_get(x->node, stage->submission_ms, end, points) < 2)
                        continue;
                if (!shown++)
                        page_begin_section(p, "nodes", "Nodes during the Stage", false);
                page_put_node_charts(p, x, stage->submission_ms, end);
        }
        if (shown)
                page_end_section(p);
        free(order);
}
