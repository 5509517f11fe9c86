/*
 * Lists of tasks, and the table of the stage page; see api.h. Rows are selected some thousands at a time, because a
 * list of all tasks may be long: a row costs four bytes until it is written.
 */
#include "ui/api/api_internal.h"

#include "base/mem.h"
#include "status/task_texts.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------ the stage page's table */

/* Columns by the headings of Spark's page. */
static const struct api_table_column {
        const char *heading;
        enum task_column column;
} api_table_columns[] = {
        {"ID", TASK_ID},
        {"Index", TASK_INDEX},
        {"Logs", TASK_INDEX},
        {"Attempt", TASK_ATTEMPT},
        {"Status", TASK_STATUS},
        {"Locality Level", TASK_LOCALITY},
        {"Executor ID", TASK_EXECUTOR},
        {"Host", TASK_EXECUTOR},
        {"Launch Time", TASK_LAUNCH},
        {"Duration", TASK_METRIC(executor_run_ms)},
        {"Scheduler Delay", TASK_SCHEDULER_DELAY},
        {"Task Deserialization Time", TASK_METRIC(executor_deserialize_ms)},
        {"GC Time", TASK_METRIC(jvm_gc_ms)},
        {"Result Serialization Time", TASK_METRIC(result_serialization_ms)},
        {"Getting Result Time", TASK_GETTING_RESULT_TIME},
        {"Peak Execution Memory", TASK_METRIC(peak_execution_memory)},
        {"Input Size / Records", TASK_METRIC(input_bytes)},
        {"Output Size / Records", TASK_METRIC(output_bytes)},
        {"Shuffle Read Blocked Time", TASK_METRIC(shuffle_read.fetch_wait_ms)}, /* its name before 4.0 */
        {"Shuffle Read Fetch Wait Time", TASK_METRIC(shuffle_read.fetch_wait_ms)},
        {"Shuffle Read Size / Records", TASK_SHUFFLE_READ_BYTES},
        {"Shuffle Remote Reads", TASK_METRIC(shuffle_read.remote_bytes)},
        {"Write Time", TASK_METRIC(shuffle_write.write_ns)},
        {"Shuffle Write Size / Records", TASK_METRIC(shuffle_write.bytes)},
        {"Spill (Memory)", TASK_METRIC(memory_bytes_spilled)},
        {"Spill (Disk)", TASK_METRIC(disk_bytes_spilled)},
        {"Accumulators", TASK_ALL_COLUMNS},
        {"Errors", TASK_ALL_COLUMNS},
};

struct api_named_value {
        const char *name;
        int64_t value;
};

static int api_named_value_compare(const void *a, const void *b)
{
        const struct api_named_value *x = a, *y = b;
        return strcmp(x->name, y->name);
}

/* Returns the rank of each value in the order of its text; equal texts have equal ranks. NULL: sorts by value. */
static int64_t *api_rank_values(const struct api_call *c, const char *heading, enum task_column column)
{
        size_t n = column == TASK_STATUS     ? TASK_ROW_KILLED + 1
                   : column == TASK_LOCALITY ? LOCALITY_LEVELS
                   : column == TASK_EXECUTOR ? c->s->executor_names.len
                                             : 0;
        if (n == 0)
                return NULL;
        struct api_named_value *values = new_array(struct api_named_value, n);
        int64_t *rank = new_array(int64_t, n);
        for (size_t i = 0; i < n; i++) {
                const struct executor_ref *x = column == TASK_EXECUTOR ? &c->s->executor_names.data[i] : NULL;
                values[i].value = (int64_t)i;
                values[i].name = column == TASK_STATUS          ? api_task_status_name((enum task_row_status)i)
                                 : column == TASK_LOCALITY      ? locality_name((enum task_locality)i)
                                 : strcmp(heading, "Host") == 0 ? x->host
                                                                : x->id;
        }
        qsort(values, n, sizeof(*values), api_named_value_compare);
        for (size_t i = 0; i < n; i++)
                rank[values[i].value] = i > 0 && strcmp(values[i].name, values[i - 1].name) == 0
                                                ? rank[values[i - 1].value]
                                                : (int64_t)i;
        free(values);
        return rank;
}

/* ------------------------------------------------------------------------------------------------- steps */

enum { API_ROWS_AT_ONCE = 8192 };

/* Writes the tasks of a page. */
struct api_task_steps {
        struct api_steps steps;
        int id, attempt;                      /* of the stage */
        struct task_page page;                /* what is not selected yet, */
        size_t left;                          /* and how many that are */
        const struct api_table_column *table; /* the column that sorts the table; NULL: a list */
        char *total;                          /* of the table */
        uint64_t *found;                      /* rows; NULL: all */
        uint32_t *rows;                       /* selected ones */
        size_t n, at;
};

/* Spark sorts indices by partitions, which logs of Spark before 3.3 do not name. */
static bool api_stage_has_partitions(const struct api_call *c, const struct status_stage *stage)
{
        struct status_task task;
        for (size_t row = 0; row < stage->columns.n_rows; row++) {
                if (task_columns_is_removed(&stage->columns, row))
                        continue;
                status_get_task(c->s, stage, row, &task);
                return task.partition >= 0;
        }
        return true;
}

/* Fills the next rows in the order of the page. */
static size_t api_task_steps_sort(struct api_task_steps *w, const struct api_call *c, const struct status_stage *stage,
                                  size_t *rows)
{
        if (!w->table)
                return task_columns_page(&stage->columns, &w->page, rows);
        if (w->table->column == TASK_ALL_COLUMNS)
                return task_texts_page(
                        stage, &w->page,
                        strcmp(w->table->heading, "Errors") == 0 ? TASK_TEXT_ERROR : TASK_TEXT_ACCUMULATOR, rows);
        int64_t *rank = api_rank_values(c, w->table->heading, w->table->column);
        w->page.column = w->table->column;
        if (w->page.column == TASK_INDEX && !api_stage_has_partitions(c, stage))
                w->page.column = TASK_ID;
        w->page.rank = rank;
        size_t n = task_columns_page(&stage->columns, &w->page, rows);
        w->page.rank = NULL;
        free(rank);
        return n;
}

static void api_task_steps_select(struct api_task_steps *w, const struct api_call *c, const struct status_stage *stage)
{
        w->page.length = MIN(w->left, (size_t)API_ROWS_AT_ONCE);
        size_t *rows = new_array(size_t, w->page.length);
        w->n = api_task_steps_sort(w, c, stage, rows);
        w->at = 0;
        w->rows = mem_grow(w->rows, MAX(w->n, (size_t)1) * sizeof(*w->rows));
        for (size_t i = 0; i < w->n; i++)
                w->rows[i] = (uint32_t)rows[i];
        free(rows);
        w->left = w->n < w->page.length ? 0 : w->left - w->n;
        w->page.offset += w->n;
}

static int api_task_steps_step(struct api_steps *steps, struct api_call *c)
{
        struct api_task_steps *w = container_of(steps, struct api_task_steps, steps);
        const struct status_stage *stage = status_find_stage(c->s, w->id, w->attempt);
        while (w->left || w->at < w->n) {
                if (!stage)
                        return -ENOENT;
                if (w->at == w->n)
                        api_task_steps_select(w, c, stage);
                for (; w->at < w->n; w->at++) {
                        if (api_piece_is_full(c))
                                return 1;
                        if (!task_columns_is_removed(&stage->columns, w->rows[w->at]))
                                api_put_task(c, NULL, stage, w->rows[w->at]);
                }
        }
        json_list_end(&c->json);
        if (w->table) {
                json_text(&c->json, "recordsTotal", w->total);
                json_end(&c->json);
        }
        return 0;
}

static void api_task_steps_free(struct api_steps *steps)
{
        struct api_task_steps *w = container_of(steps, struct api_task_steps, steps);
        free(w->total);
        free(w->found);
        free(w->rows);
        free(w);
}

/* Returns steps for @length tasks from @offset on. */
static struct api_task_steps *api_task_steps_new(const struct status_stage *stage, int id, int attempt, int offset,
                                                 int length)
{
        struct api_task_steps *w = new0(struct api_task_steps);
        w->steps = (struct api_steps){.step = api_task_steps_step, .free = api_task_steps_free};
        w->id = id;
        w->attempt = attempt;
        w->page.offset = (size_t)MAX(offset, 0);
        w->left = stage ? MIN((size_t)MAX(length, 0), stage->columns.n_rows) : 0;
        return w;
}

/* --------------------------------------------------------------------------------------------------- resources */

void api_serve_task_list(struct api_call *c, int id, int attempt)
{
        enum { SORT_ID, SORT_INCREASING, SORT_INCREASING_NAME, SORT_DECREASING, SORT_DECREASING_NAME, SORTS };
        static const char *const names[SORTS] = {"ID", "runtime", "INCREASING_RUNTIME", "-runtime",
                                                 "DECREASING_RUNTIME"};
        int offset = 0, length = 20;
        uint32_t sort, statuses;
        if (!api_get_int(c, "offset", &offset) || !api_get_int(c, "length", &length) ||
            !api_get_set(c, "sortBy", names, SORTS, &sort) || !api_get_task_statuses(c, "status", &statuses))
                return;
        bool by_time = sort && !(sort & 1u << SORT_ID);
        struct api_task_steps *w =
                api_task_steps_new(status_find_stage(c->s, id, attempt), id, attempt, offset, length);
        w->page.column = by_time ? TASK_METRIC(executor_run_ms) : TASK_ID;
        w->page.descending = sort & (1u << SORT_DECREASING | 1u << SORT_DECREASING_NAME);
        w->page.statuses = statuses;
        json_list(&c->json, NULL);
        api_run_steps(c, &w->steps);
}

/* The parameters of DataTables' protocol. */
struct api_table_request {
        const struct api_table_column *column;
        const char *total, *search;
        bool descending;
        int start, length, n_tasks;
};

static bool api_get_table_request(struct api_call *c, struct api_table_request *t)
{
        const struct form *q = c->q->query;
        const char *heading = form_get(q, "columnNameToSort"), *direction = form_get(q, "order[0][dir]");
        *t = (struct api_table_request){.total = form_get(q, "numTasks"), .search = form_get(q, "search[value]")};
        bool has_page = form_get(q, "start") && form_get(q, "length");
        if (!api_get_int(c, "start", &t->start) || !api_get_int(c, "length", &t->length) ||
            !api_get_int(c, "numTasks", &t->n_tasks))
                return false;
        for (size_t i = 0; heading && i < ARRAY_SIZE(api_table_columns); i++)
                if (strcasecmp(heading, api_table_columns[i].heading) == 0)
                        t->column = &api_table_columns[i];
        t->descending = !direction || strcasecmp(direction, "asc") != 0;
        if (t->column && direction && t->total && has_page)
                return true;
        api_fail(c, 500,
                 "The table of tasks needs the parameters numTasks, columnNameToSort (a heading), "
                 "order[0][dir], start and length.");
        return false;
}

void api_serve_task_table(struct api_call *c, int id, int attempt)
{
        const struct status_stage *stage = status_find_stage(c->s, id, attempt);
        struct api_table_request t;
        if (!api_get_table_request(c, &t))
                return;
        size_t n_rows = stage ? stage->columns.n_rows : 0;
        char number[24];
        const char *filtered = t.total;
        struct api_task_steps *w = api_task_steps_new(stage, id, attempt, t.start, t.length);
        w->table = t.column;
        w->total = mem_strdup(t.total);
        w->page.descending = t.descending;
        if (t.search && *t.search && n_rows && t.n_tasks > 0) {
                w->found = new_array(uint64_t, n_rows / 64 + 1);
                snprintf(number, sizeof(number), "%zu", api_search_tasks(c, stage, t.search, w->found));
                filtered = number;
                w->page.only = w->found;
        }
        json_begin(&c->json); /* in the order of Java's HashMap */
        json_text(&c->json, "recordsFiltered", filtered);
        json_list(&c->json, "aaData");
        api_run_steps(c, &w->steps);
}
