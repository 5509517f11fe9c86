/* The table of a stage's tasks, and the timeline of the tasks that it shows; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"
#include "status/diagnosis.h"
#include "status/task_texts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Columns of the table, in order. The style sheet knows which ones hold texts. Headings are those by which links of
 * Spark's page sort. */
static const struct task_table_column {
        struct page_column page;
        enum task_column column;
        bool always;         /* also if no task of the stage has a value */
        enum task_text text; /* of TASK_ALL_COLUMNS */
} task_table_columns[] = {
        {{"Index", true}, TASK_INDEX, true},
        {{"ID", true}, TASK_ID, true},
        {{"Attempt", true}, TASK_ATTEMPT, true},
        {{"Status"}, TASK_STATUS, true},
        {{"Locality Level"}, TASK_LOCALITY, true},
        {{"Executor ID"}, TASK_EXECUTOR, true},
        {{"Host"}, TASK_EXECUTOR, true},
        {{"Launch Time"}, TASK_LAUNCH, true},
        {{"Duration", true}, TASK_METRIC(executor_run_ms), true},
        {{"Scheduler Delay", true}, TASK_SCHEDULER_DELAY, true},
        {{"Task Deserialization Time", true}, TASK_METRIC(executor_deserialize_ms)},
        {{"GC Time", true}, TASK_METRIC(jvm_gc_ms)},
        {{"Result Serialization Time", true}, TASK_METRIC(result_serialization_ms)},
        {{"Peak Execution Memory", true}, TASK_METRIC(peak_execution_memory)},
        {{"Accumulators"}, TASK_ALL_COLUMNS, false, TASK_TEXT_ACCUMULATOR},
        {{"Input Size / Records", true}, TASK_METRIC(input_bytes)},
        {{"Output Size / Records", true}, TASK_METRIC(output_bytes)},
        {{"Shuffle Read Blocked Time", true}, TASK_METRIC(shuffle_read.fetch_wait_ms)},
        {{"Shuffle Read Size / Records", true}, TASK_SHUFFLE_READ_BYTES},
        {{"Shuffle Remote Reads", true}, TASK_METRIC(shuffle_read.remote_bytes)},
        {{"Write Time", true}, TASK_METRIC(shuffle_write.write_ns)},
        {{"Shuffle Write Size / Records", true}, TASK_METRIC(shuffle_write.bytes)},
        {{"Spill (Memory)", true}, TASK_METRIC(memory_bytes_spilled)},
        {{"Spill (Disk)", true}, TASK_METRIC(disk_bytes_spilled)},
        {{"Errors"}, TASK_ALL_COLUMNS, false, TASK_TEXT_ERROR},
};

static const char *const task_states[] = {[TASK_ROW_RUNNING] = "RUNNING",
                                          [TASK_ROW_GETTING_RESULT] = "GET RESULT",
                                          [TASK_ROW_SUCCESS] = "SUCCESS",
                                          [TASK_ROW_FAILED] = "FAILED",
                                          [TASK_ROW_KILLED] = "KILLED"};

enum { N_COLUMNS = ARRAY_SIZE(task_table_columns) };

/* The shown columns. */
struct stage_task_table {
        struct page_table page;
        struct page_column headings[N_COLUMNS];
        const struct task_table_column *columns[N_COLUMNS];
        size_t n;
};

static bool task_table_has_values(const struct status_stage *stage, const struct task_table_column *c)
{
        if (c->always)
                return true;
        if (c->column == TASK_ALL_COLUMNS) {
                for (size_t i = 0; i < stage->notes.len; i++)
                        if (task_text_of(&stage->notes.data[i], c->text))
                                return true;
                return false;
        }
        if (c->column == TASK_SHUFFLE_READ_BYTES)
                return stage->metrics.shuffle_read.local_bytes || stage->metrics.shuffle_read.remote_bytes;
        return ((const int64_t *)&stage->metrics)[c->column - TASK_METRICS] != 0;
}

static bool task_table_init(struct ui_page *p, struct stage_task_table *t, const struct status_stage *stage)
{
        size_t sort = 0;
        for (size_t i = 0; i < N_COLUMNS; i++) {
                if (!task_table_has_values(stage, &task_table_columns[i]))
                        continue;
                t->headings[t->n] = task_table_columns[i].page;
                t->columns[t->n++] = &task_table_columns[i];
        }
        return page_table_init(p, &t->page, "task", t->headings, t->n, sort, false, stage->columns.n_retained);
}

/* ---------------------------------------------------------------------------------------------------- sorting */

struct task_name {
        const char *name;
        int64_t value;
};

static int task_name_compare(const void *a, const void *b)
{
        const struct task_name *x = a, *y = b;
        return strcmp(x->name, y->name);
}

/* Returns the rank of each executor, state or locality in the order of its text. NULL: sorts by value. */
static int64_t *task_table_ranks(const struct ui_page *p, const struct task_table_column *c)
{
        size_t n = c->column == TASK_STATUS     ? ARRAY_SIZE(task_states)
                   : c->column == TASK_LOCALITY ? LOCALITY_LEVELS
                   : c->column == TASK_EXECUTOR ? p->s->executor_names.len
                                                : 0;
        if (!n)
                return NULL;
        struct task_name *names = new_array(struct task_name, n);
        int64_t *ranks = new_array(int64_t, n);
        bool by_host = strcmp(c->page.heading, "Host") == 0;
        for (size_t i = 0; i < n; i++) {
                const struct executor_ref *x = c->column == TASK_EXECUTOR ? &p->s->executor_names.data[i] : NULL;
                names[i] = (struct task_name){x                          ? by_host ? x->host : x->id
                                              : c->column == TASK_STATUS ? task_states[i]
                                                                         : locality_name((enum task_locality)i),
                                              (int64_t)i};
        }
        qsort(names, n, sizeof(*names), task_name_compare);
        for (size_t i = 0; i < n; i++)
                ranks[names[i].value] =
                        i && strcmp(names[i].name, names[i - 1].name) == 0 ? ranks[names[i - 1].value] : (int64_t)i;
        free(names);
        return ranks;
}

/* Fills the rows of the shown page. Returns their number. */
static size_t task_table_select(const struct ui_page *p, const struct stage_task_table *t,
                                const struct status_stage *stage, size_t *rows)
{
        int64_t *ranks = task_table_ranks(p, t->columns[t->page.sort]);
        const struct task_page page = {.column = t->columns[t->page.sort]->column,
                                       .descending = t->page.descending,
                                       .offset = t->page.from,
                                       .length = t->page.end - t->page.from,
                                       .rank = ranks};
        const struct task_table_column *sort = t->columns[t->page.sort];
        size_t n = sort->column == TASK_ALL_COLUMNS ? task_texts_page(stage, &page, sort->text, rows)
                                                    : task_columns_page(&stage->columns, &page, rows);
        free(ranks);
        return n;
}

/* -------------------------------------------------------------------------------------------------------- rows */

/* How many bytes of long texts a page still shows. */
struct task_text_budgets {
        size_t errors, accumulators;
};

/* A page shows as much of long errors as its size allows. /api/v1 has them all. */
static void task_put_error(struct ui_page *p, const struct status_task *task, size_t *budget)
{
        const char *error = task->note ? task->note->error : NULL;
        buf_puts(p->b, error ? "<td class=e>" : "<td>");
        if (error) {
                size_t n = strcspn(error, "\n");
                _cleanup_free_ char *first = mem_strndup(error, MIN(n, (size_t)80));
                size_t whole = strlen(error);
                if (whole > strlen(first) && whole <= *budget) {
                        html_put(p->b, "<details class=\"inner\"><summary>%s</summary><pre>%s</pre></details>", first,
                                 error);
                        *budget -= whole;
                } else {
                        html_put(p->b, whole > strlen(first) ? "%s \xe2\x80\xa6" : "%s", first);
                }
        }
}

/* "rows: 12, words: 3": the named accumulators that the task changed, as far as the size of the page allows. */
static void task_put_accumulators(struct ui_page *p, const struct status_task *task, size_t *budget)
{
        enum { MAX_TEXT = 100, MAX_CELL = 200, MAX_NARROW = 30 };
        struct buf text = BUF_INIT;
        for (size_t i = 0; task->note && i < task->note->n_accumulables; i++) {
                const struct accumulable *a = &task->note->accumulables[i];
                if (!a->name || !a->update)
                        continue;
                if (text.len > MAX_CELL || text.len >= *budget) {
                        buf_puts(&text, text.len ? " \xe2\x80\xa6" : "");
                        break;
                }
                buf_puts(&text, text.len ? ", " : "");
                diagnosis_put_error(&text, a->name, MAX_TEXT);
                buf_puts(&text, ": ");
                diagnosis_put_error(&text, a->update, MAX_TEXT);
        }
        html_put(p->b,
                 !text.len               ? "<td>%s"
                 : text.len > MAX_NARROW ? "<td class=e>%s"
                                         : "<td class=t>%s",
                 buf_text(&text));
        *budget -= MIN(text.len, *budget);
        buf_deinit(&text);
}

static void task_put_sizes(struct ui_page *p, int64_t bytes, int64_t records)
{
        page_put_number_td(p);
        page_put_bytes_records(p, bytes, records);
}

static void task_put_cell(struct ui_page *p, const struct status_task *t, const struct task_table_column *c,
                          struct task_text_budgets *left)
{
        const struct task_metrics *m = &t->metrics;
        switch ((int)c->column) {
        case TASK_INDEX:
                return page_put_number_cell(p, t->index);
        case TASK_ID:
                return page_put_number_cell(p, t->id);
        case TASK_ATTEMPT:
                page_put_number_td(p);
                html_put(p->b, "%d%s", t->attempt, t->speculative ? " (speculative)" : "");
                return;
        case TASK_STATUS:
                html_put(p->b, "<td>%s", task_states[t->status]);
                return;
        case TASK_LOCALITY:
                html_put(p->b, "<td>%s", locality_name(t->locality));
                return;
        case TASK_EXECUTOR:
                html_put(p->b, "<td>%s", strcmp(c->page.heading, "Host") == 0 ? t->host : t->executor_id);
                return;
        case TASK_LAUNCH:
                html_put(p->b, "<td>%t", t->launch_ms);
                return;
        case TASK_METRIC(executor_run_ms):
                return page_put_duration_cell(p, t->has_metrics ? m->executor_run_ms : t->duration_ms);
        case TASK_SCHEDULER_DELAY:
                return page_put_duration_cell(p, t->scheduler_delay_ms);
        case TASK_METRIC(input_bytes):
                return task_put_sizes(p, m->input_bytes, m->input_records);
        case TASK_METRIC(output_bytes):
                return task_put_sizes(p, m->output_bytes, m->output_records);
        case TASK_SHUFFLE_READ_BYTES:
                return task_put_sizes(p, m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes,
                                      m->shuffle_read.records);
        case TASK_METRIC(shuffle_write.bytes):
                return task_put_sizes(p, m->shuffle_write.bytes, m->shuffle_write.records);
        case TASK_METRIC(shuffle_write.write_ns):
                return page_put_duration_cell(p, m->shuffle_write.write_ns / 1000000);
        case TASK_METRIC(executor_deserialize_ms):
        case TASK_METRIC(jvm_gc_ms):
        case TASK_METRIC(result_serialization_ms):
        case TASK_METRIC(shuffle_read.fetch_wait_ms):
                return page_put_duration_cell(p, ((const int64_t *)m)[c->column - TASK_METRICS]);
        case TASK_ALL_COLUMNS:
                return c->text == TASK_TEXT_ERROR ? task_put_error(p, t, &left->errors)
                                                  : task_put_accumulators(p, t, &left->accumulators);
        default:
                return page_put_bytes_cell(p, ((const int64_t *)m)[c->column - TASK_METRICS]);
        }
}

static void task_add_span(page_spans *spans, const struct status_task *t)
{
        struct page_span span = {.from_ms = t->launch_ms,
                                 .to_ms = t->launch_ms + t->duration_ms,
                                 .class = t->status < TASK_ROW_SUCCESS    ? "s-run"
                                          : t->status == TASK_ROW_SUCCESS ? "s-done"
                                                                          : "s-failed"};
        span.title =
                mem_printf("Task %d.%d on %s: %" PRId64 " ms", t->index, t->attempt, t->executor_id, t->duration_ms);
        vec_push(spans, span);
}

/* Fills in the time of a task until now, if it runs. */
static void task_get_shown(const struct ui_page *p, const struct status_stage *stage, size_t row,
                           struct status_task *out)
{
        status_get_task(p->s, stage, row, out);
        if (out->duration_ms < 0)
                out->duration_ms = MAX(p->now_ms - out->launch_ms, (int64_t)0);
}

/* The link to a page of the timeline; nothing for the shown page and behind the last. */
static void task_timeline_put_link(struct ui_page *p, const struct status_stage *stage, const char *text, int64_t page,
                                   int64_t size)
{
        html_put(p->b,
                 "<a href=\"%s/stages/stage/?id=%d&amp;attempt=%d&amp;task.eventTimelinePageNumber=%D&amp;"
                 "task.eventTimelinePageSize=%D#task-timeline\">%s</a>",
                 p->q->base, stage->id, stage->attempt, page, size, text);
}

/*
 * A page of the timeline of all tasks, by launch time: task.eventTimelinePageNumber (from 1) and
 * task.eventTimelinePageSize, at most spark.ui.timeline.tasks.maximum.
 */
static void task_put_timeline_page(struct ui_page *p, const struct status_stage *stage, int64_t number)
{
        const int64_t most = p->q->timelines.tasks ? p->q->timelines.tasks : 1000,
                      all = (int64_t)stage->columns.n_retained;
        int64_t size = 100, from_ms = INT64_MAX, to_ms = 0;
        page_spans spans = {0};
        form_get_int(p->q->query, "task.eventTimelinePageSize", &size);
        size = size < 1 ? most : MIN(size, most);
        const int64_t n_pages = MAX((all + size - 1) / size, (int64_t)1);
        const int64_t page = number < 1 ? 1 : MIN(number, n_pages);
        const struct task_page wanted = {
                .column = TASK_LAUNCH, .offset = (size_t)((page - 1) * size), .length = (size_t)size};
        size_t *rows = new_array(size_t, (size_t)size + 1);
        size_t n = task_columns_page(&stage->columns, &wanted, rows);
        for (size_t i = 0; i < n; i++) {
                struct status_task task;
                task_get_shown(p, stage, rows[i], &task);
                from_ms = MIN(from_ms, task.launch_ms);
                to_ms = MAX(to_ms, task.launch_ms + task.duration_ms);
                task_add_span(&spans, &task);
        }
        page_begin_section(p, "task-timeline", "Event Timeline of all Tasks", true);
        buf_puts(p->b, "<nav class=\"pager\" aria-label=\"Pages of the timeline\">");
        if (page > 1)
                task_timeline_put_link(p, stage, "Previous", page - 1, size);
        html_put(p->b, "<span>page %D of %D, by launch time</span>", page, n_pages);
        if (page < n_pages)
                task_timeline_put_link(p, stage, "Next", page + 1, size);
        buf_puts(p->b, "</nav>\n");
        page_put_timeline(p, &spans, from_ms, to_ms);
        page_end_section(p);
        free(rows);
}

/* The timeline of the tasks of some rows, folded. */
static void task_put_timeline(struct ui_page *p, const struct status_stage *stage, const size_t *rows, size_t n)
{
        enum { DEFAULT_SPANS = 80 };
        const size_t max_spans = p->q->timelines.tasks ? (size_t)p->q->timelines.tasks : DEFAULT_SPANS;
        page_spans spans = {0};
        int64_t from = INT64_MAX, to = 0;
        for (size_t i = 0; i < n; i++) {
                struct status_task task;
                task_get_shown(p, stage, rows[i], &task);
                from = MIN(from, task.launch_ms);
                to = MAX(to, task.launch_ms + task.duration_ms);
                if (i < max_spans)
                        task_add_span(&spans, &task);
        }
        page_begin_section(p, "task-timeline", "Event Timeline of these Tasks", false);
        page_put_timeline(p, &spans, from, to);
        task_timeline_put_link(p, stage, "All tasks by launch time", 1, 100);
        page_end_section(p);
}

bool page_put_tasks(struct ui_page *p, const struct status_stage *stage)
{
        struct stage_task_table t = {0};
        struct task_text_budgets left = {.errors = 11 << 9, .accumulators = 1 << 9};
        int64_t timeline_page;
        if (!stage->columns.n_retained) {
                buf_puts(p->b, "<p class=\"nothing\">No task was started yet.</p>\n");
                return true;
        }
        if (!task_table_init(p, &t, stage))
                return false;
        size_t *rows = new_array(size_t, t.page.end - t.page.from + 1);
        size_t n = task_table_select(p, &t, stage, rows);
        if (form_get_int(p->q->query, "task.eventTimelinePageNumber", &timeline_page) == 1)
                task_put_timeline_page(p, stage, timeline_page);
        else
                task_put_timeline(p, stage, rows, n);
        _cleanup_free_ char *heading = mem_printf("Tasks (%zu)", t.page.n);
        page_begin_section(p, "task", heading, true);
        p->right = true;
        t.page.is_last = true;
        page_table_begin(p, &t.page);
        for (size_t i = 0; i < n; i++) {
                struct status_task task;
                task_get_shown(p, stage, rows[i], &task);
                buf_puts(p->b, "<tr>");
                for (size_t k = 0; k < t.n; k++)
                        task_put_cell(p, &task, t.columns[k], &left);
                buf_puts(p->b, "\n");
        }
        page_table_end(p);
        page_end_section(p);
        free(rows);
        return true;
}
