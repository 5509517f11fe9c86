/* The executors and their threads; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "events/events.h"

#include <stdio.h>

enum {
        COLUMN_ID,
        COLUMN_ADDRESS,
        COLUMN_STATUS,
        COLUMN_LOGS, /* not at the end: a narrow window would hide it */
        COLUMN_BLOCKS,
        COLUMN_MEMORY,
        COLUMN_DISK,
        COLUMN_CORES,
        COLUMN_ACTIVE,
        COLUMN_FAILED,
        COLUMN_COMPLETE,
        COLUMN_TOTAL,
        COLUMN_TIME,
        COLUMN_INPUT,
        COLUMN_READ,
        COLUMN_WRITE,
        COLUMN_PEAK,
        EXECUTOR_COLUMNS
};

static const struct page_column executor_columns[EXECUTOR_COLUMNS] = {
        [COLUMN_ID] = {"Executor ID"},
        [COLUMN_ADDRESS] = {"Address"},
        [COLUMN_STATUS] = {"Status"},
        [COLUMN_BLOCKS] = {"RDD Blocks", true},
        [COLUMN_MEMORY] = {"Storage Memory", true},
        [COLUMN_DISK] = {"Disk Used", true},
        [COLUMN_CORES] = {"Cores", true},
        [COLUMN_ACTIVE] = {"Active Tasks", true},
        [COLUMN_FAILED] = {"Failed Tasks", true},
        [COLUMN_COMPLETE] = {"Complete Tasks", true},
        [COLUMN_TOTAL] = {"Total Tasks", true},
        [COLUMN_TIME] = {"Task Time (GC Time)", true},
        [COLUMN_INPUT] = {"Input", true},
        [COLUMN_READ] = {"Shuffle Read", true},
        [COLUMN_WRITE] = {"Shuffle Write", true},
        [COLUMN_PEAK] = {"Peak Resident Memory", true},
        [COLUMN_LOGS] = {"Logs", false, true},
};

static int64_t executor_peak(const struct status_executor *x)
{
        return x->has_peaks ? x->peaks.values[PEAK_OTHER_RESIDENT] : 0;
}

/* As in Spark, the driver's part is the whole application. */
static int64_t executor_time(const struct ui_page *p, const struct status_executor *x)
{
        const struct status_application *a = &p->s->application;
        if (strcmp(x->id, "driver") != 0 || a->start_ms <= 0)
                return x->duration_ms;
        return MAX((a->has_ended ? a->end_ms : p->now_ms) - a->start_ms, (int64_t)0);
}

static int64_t executor_value(const struct ui_page *p, const struct status_executor *x, size_t column)
{
        switch (column) {
        case COLUMN_BLOCKS:
                return x->rdd_blocks;
        case COLUMN_MEMORY:
                return x->memory_used;
        case COLUMN_DISK:
                return x->disk_used;
        case COLUMN_CORES:
                return x->cores;
        case COLUMN_ACTIVE:
                return x->active_tasks;
        case COLUMN_FAILED:
                return x->failed_tasks;
        case COLUMN_COMPLETE:
                return x->completed_tasks;
        case COLUMN_TOTAL:
                return x->total_tasks;
        case COLUMN_TIME:
                return executor_time(p, x);
        case COLUMN_INPUT:
                return x->input_bytes;
        case COLUMN_READ:
                return x->shuffle_read_bytes;
        case COLUMN_WRITE:
                return x->shuffle_write_bytes;
        case COLUMN_PEAK:
                return executor_peak(x);
        default:
                return x->number;
        }
}

/* Spark's logs do not say that executors end with their application. */
static const char *executor_state(const struct ui_page *p, const struct status_executor *x)
{
        return !x->is_active ? "DEAD" : p->s->application.has_ended ? "ENDED" : x->excluded ? "EXCLUDED" : "ALIVE";
}

/* Omits the port of a driver that listens nowhere. */
static const char *executor_address(const struct status_executor *x)
{
        char none[16];
        snprintf(none, sizeof(none), ":%d", BLOCK_MANAGER_NO_PORT);
        return *x->host_port && !text_ends_with(x->host_port, none) ? x->host_port : x->host;
}

static struct page_key executor_key(const struct ui_page *p, const struct status_executor *x, size_t column)
{
        return (struct page_key){.number = executor_value(p, x, column),
                                 .text = column == COLUMN_ADDRESS  ? executor_address(x)
                                         : column == COLUMN_STATUS ? executor_state(p, x)
                                                                   : NULL,
                                 .row = x};
}

static void executor_put_links(struct ui_page *p, const struct status_executor *x)
{
        buf_puts(p->b, "<td>");
        page_put_executor_logs(p, x);
        if (x->is_active && p->view->is_live && p->view->class->threads)
                html_put(p->b, "<a href=\"%s/executors/threadDump/?executorId=%q\">threads</a>", p->q->base, x->id);
}

static void executor_put_row(struct ui_page *p, const struct status_executor *x)
{
        html_put(p->b, "<tr><td>%s<td>%s<td>", x->id, executor_address(x));
        html_state(p->b, executor_state(p, x));
        if (!x->is_active && x->removed_reason)
                html_put(p->b, "<br><small>%t: %s</small>", x->removed_ms, x->removed_reason);
        executor_put_links(p, x);
        page_put_number_cell(p, x->rdd_blocks);
        buf_puts(p->b, "<td class=n>");
        page_put_bytes(p, x->memory_used);
        if (x->max_memory) {
                buf_puts(p->b, " / ");
                page_put_bytes(p, x->max_memory);
        }
        page_put_bytes_cell(p, x->disk_used);
        for (size_t i = COLUMN_CORES; i <= COLUMN_TOTAL; i++)
                page_put_number_cell(p, executor_value(p, x, i));
        html_put(p->b, "<td class=n>%u", executor_time(p, x));
        if (x->gc_ms)
                html_put(p->b, " (%u)", x->gc_ms);
        for (size_t i = COLUMN_INPUT; i <= COLUMN_PEAK; i++)
                page_put_bytes_cell(p, executor_value(p, x, i));
        buf_puts(p->b, "\n");
}

static bool executors_put_table(struct ui_page *p, bool active, const char *tag, const char *heading)
{
        struct page_table t;
        size_t n = 0, at = 0;
        for (size_t i = 0; i < p->s->executors.len; i++)
                n += p->s->executors.data[i]->is_registered && p->s->executors.data[i]->is_active == active;
        if (!n)
                return true;
        if (!page_table_init(p, &t, tag, executor_columns, EXECUTOR_COLUMNS, COLUMN_ID, false, n))
                return false;
        struct page_key *keys = new_array(struct page_key, n);
        for (size_t i = 0; i < p->s->executors.len; i++) {
                const struct status_executor *x = p->s->executors.data[i];
                if (x->is_registered && x->is_active == active)
                        keys[at++] = executor_key(p, x, t.sort);
        }
        page_table_sort(&t, keys);
        _cleanup_free_ char *whole = mem_printf("%s (%zu)", heading, n);
        page_begin_section(p, tag, whole, true);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++)
                executor_put_row(p, keys[i].row);
        page_table_end(p);
        page_end_section(p);
        free(keys);
        return true;
}

/* The sums of the active, the dead and all executors. */
static void executors_put_summary(struct ui_page *p)
{
        const char *const names[] = {p->s->application.has_ended ? "Until the end" : "Active", "Dead", "Total"};
        html_table_begin(p->b, "summary", "Summary",
                         "|#RDD Blocks|#Storage Memory|#Disk Used|#Cores|#Active Tasks|#Failed Tasks|#Complete Tasks|"
                         "#Total Tasks|#Task Time|#Input|#Shuffle Read|#Shuffle Write|#Excluded",
                         ARRAY_SIZE(names), "");
        for (int row = 0; row < 3; row++) {
                int64_t sums[EXECUTOR_COLUMNS] = {0}, n = 0, excluded = 0;
                for (size_t i = 0; i < p->s->executors.len; i++) {
                        const struct status_executor *x = p->s->executors.data[i];
                        if (!x->is_registered || (row < 2 && x->is_active != (row == 0)))
                                continue;
                        n++;
                        excluded += x->excluded;
                        for (size_t k = COLUMN_BLOCKS; k <= COLUMN_WRITE; k++)
                                sums[k] += executor_value(p, x, k);
                }
                html_put(p->b, "<tr><th scope=\"row\">%s (%D)</th>", names[row], n);
                for (size_t k = COLUMN_BLOCKS; k <= COLUMN_WRITE; k++) {
                        if (k == COLUMN_MEMORY || k == COLUMN_DISK || k >= COLUMN_INPUT)
                                page_put_bytes_cell(p, sums[k]);
                        else if (k == COLUMN_TIME)
                                page_put_duration_cell(p, sums[k]);
                        else
                                page_put_number_cell(p, sums[k]);
                }
                page_put_number_cell(p, excluded);
                buf_puts(p->b, "\n");
        }
        html_table_end(p->b, ARRAY_SIZE(names));
}

/* The nodes of the executors that have used most CPU time of late: active ones, and all in the history. */
static void executors_put_nodes(struct ui_page *p)
{
        enum { MAX_NODES = 6 };
        size_t n = 0, shown = 0;
        struct page_key *keys = new_array(struct page_key, p->s->executors.len);
        for (size_t i = 0; i < p->s->executors.len; i++) {
                const struct status_executor *x = p->s->executors.data[i];
                if (x->node && x->node->pace.n >= 2 && (x->is_active || !p->view->is_live))
                        keys[n++] = (struct page_key){
                                .number = (int64_t)(x->node->points[x->node->pace.n - 1].process_cpu * 1000), .row = x};
        }
        if (n) {
                page_table_sort(&(struct page_table){.descending = true, .n = n}, keys);
                page_begin_section(p, "nodes", "Nodes", true);
        }
        for (; shown < n && shown < MAX_NODES; shown++)
                page_put_node_charts(p, keys[shown].row, 0, INT64_MAX);
        if (n > shown)
                html_put(p->b, "<p class=\"nothing\">%D more executors are not drawn.</p>\n", (int64_t)(n - shown));
        if (n)
                page_end_section(p);
        free(keys);
}

void page_serve_executors(struct ui_page *p)
{
        page_begin(p, TAB_EXECUTORS, "Executors");
        executors_put_summary(p);
        if (!executors_put_table(p, true, "activeExecutor",
                                 p->s->application.has_ended ? "Executors until the End" : "Active Executors") ||
            !executors_put_table(p, false, "deadExecutor", "Dead Executors"))
                return;
        executors_put_nodes(p);
        html_table_begin(p->b, "processes", "Miscellaneous Process", "Process ID|Address|#Cores|Logs",
                         p->s->processes.len, "None.");
        for (size_t i = 0; i < p->s->processes.len; i++) {
                const struct status_process *x = p->s->processes.data[i];
                html_put(p->b, "<tr><td>%s<td>%s<td class=n>%d<td>", x->id, x->host_port, x->cores);
                page_put_logs(p, &x->logs);
                buf_puts(p->b, "\n");
        }
        html_table_end(p->b, p->s->processes.len);
        page_end(p);
}

/* ------------------------------------------------------------------------------------------------------ threads */

static void threads_put_row(struct ui_page *p, const struct app_thread *t)
{
        html_put(p->b, "<tr><td class=n>%D<td>%s", t->id, t->name);
        if (t->task_id >= 0)
                html_put(p->b, " <small>TID %D</small>", t->task_id);
        html_put(p->b, "<td>%s<td class=n>%u<td class=text>", t->state, t->cpu_ms);
        if (*t->function)
                html_put(p->b, "in <code>%s</code> ", t->function);
        if (*t->wait)
                html_put(p->b, "<code>%s</code>", t->wait);
        if (t->n_stack) {
                html_put(p->b, "<details class=inner><summary><code>%s</code></summary><pre>", t->stack[0]);
                for (size_t i = 0; i < t->n_stack; i++)
                        html_put(p->b, "%s\n", t->stack[i]);
                buf_puts(p->b, "</pre></details>");
        }
        buf_puts(p->b, "\n");
}

void page_serve_threads(struct ui_page *p)
{
        const char *id = form_get(p->q->query, "executorId");
        struct app_threads threads = {0};
        if (!id) {
                page_fail(p, 400, "The parameter 'executorId' is missing.");
                return;
        }
        if (!p->view->is_live || !p->view->class->threads) {
                page_fail(p, 200,
                          p->view->is_live ? "Threads are not shown: spark.ui.threadDumpsEnabled is false."
                                           : "Threads are shown only while the application runs.");
                return;
        }
        app_view_end(p->view); /* asking takes time */
        bool is_known = p->view->class->threads(p->view, id, &threads);
        app_view_read(p->view);
        if (is_known) {
                page_begin(p, TAB_EXECUTORS, "Threads of Executor %s", id);
                html_table_begin(p->b, "threads", "Threads", "#Thread ID|Name|State|#CPU Time|Place", threads.list.len,
                                 "None.");
                for (size_t i = 0; i < threads.list.len; i++)
                        threads_put_row(p, &threads.list.data[i]);
                html_table_end(p->b, threads.list.len);
                page_end(p);
        } else {
                page_fail(p, 404, "The threads of executor %.100s are unknown.", id);
        }
        app_threads_deinit(&threads);
}
