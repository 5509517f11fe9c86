/* Tasks: single ones, lists, the table of the stage page; see api.h. */
#include "ui/api/api_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

/* The greatest answer, in bytes: it is held in memory. */
#define API_MAX_ANSWER ((size_t)512 << 20)

static const char *const api_row_states[] = {[TASK_ROW_RUNNING] = "RUNNING",
                                             [TASK_ROW_GETTING_RESULT] = "GET RESULT",
                                             [TASK_ROW_SUCCESS] = "SUCCESS",
                                             [TASK_ROW_FAILED] = "FAILED",
                                             [TASK_ROW_KILLED] = "KILLED"};

const char *api_task_status_name(enum task_row_status status)
{
        return api_row_states[status];
}

bool api_get_task_statuses(struct api_call *c, const char *name, uint32_t *statuses)
{
        static const char *const names[] = {"RUNNING", "KILLED", "FAILED", "SUCCESS", "UNKNOWN"};
        static const uint32_t rows[] = {1u << TASK_ROW_RUNNING, 1u << TASK_ROW_KILLED, 1u << TASK_ROW_FAILED,
                                        1u << TASK_ROW_SUCCESS, 1u << 31};
        uint32_t bits;
        if (!api_get_set(c, name, names, ARRAY_SIZE(names), &bits))
                return false;
        *statuses = 0;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                *statuses |= bits >> i & 1 ? rows[i] : 0;
        return true;
}

/* ----------------------------------------------------------------------------------------------------- a task */

static void api_put_push_metrics(struct json_out *j, const struct push_read_metrics *p)
{
        json_begin_in(j, "shufflePushReadMetrics");
        json_int(j, "corruptMergedBlockChunks", p->corrupt_chunks);
        json_int(j, "mergedFetchFallbackCount", p->fallbacks);
        json_int(j, "remoteMergedBlocksFetched", p->remote_blocks);
        json_int(j, "localMergedBlocksFetched", p->local_blocks);
        json_int(j, "remoteMergedChunksFetched", p->remote_chunks);
        json_int(j, "localMergedChunksFetched", p->local_chunks);
        json_int(j, "remoteMergedBytesRead", p->remote_bytes);
        json_int(j, "localMergedBytesRead", p->local_bytes);
        json_int(j, "remoteMergedReqsDuration", p->remote_requests_ms);
        json_end(j);
}

static void api_put_task_metrics(struct json_out *j, const struct status_task *t)
{
        const struct task_metrics *m = &t->metrics;
        json_begin_in(j, "taskMetrics");
        api_put_run_metrics(j, m);
        json_begin_in(j, "inputMetrics");
        json_int(j, "bytesRead", m->input_bytes);
        json_int(j, "recordsRead", m->input_records);
        json_end(j);
        json_begin_in(j, "outputMetrics");
        json_int(j, "bytesWritten", m->output_bytes);
        json_int(j, "recordsWritten", m->output_records);
        json_end(j);
        json_begin_in(j, "shuffleReadMetrics");
        json_int(j, "remoteBlocksFetched", m->shuffle_read.remote_blocks);
        json_int(j, "localBlocksFetched", m->shuffle_read.local_blocks);
        json_int(j, "fetchWaitTime", m->shuffle_read.fetch_wait_ms);
        json_int(j, "remoteBytesRead", m->shuffle_read.remote_bytes);
        json_int(j, "remoteBytesReadToDisk", m->shuffle_read.remote_bytes_to_disk);
        json_int(j, "localBytesRead", m->shuffle_read.local_bytes);
        json_int(j, "recordsRead", m->shuffle_read.records);
        json_int(j, "remoteReqsDuration", m->shuffle_read.remote_requests_ms);
        api_put_push_metrics(j, &t->push_metrics);
        json_end(j);
        json_begin_in(j, "shuffleWriteMetrics");
        json_int(j, "bytesWritten", m->shuffle_write.bytes);
        json_int(j, "writeTime", m->shuffle_write.write_ns);
        json_int(j, "recordsWritten", m->shuffle_write.records);
        json_end(j);
        json_end(j);
}

static void api_get_row(const struct api_call *c, const struct status_stage *stage, size_t row, struct status_task *t)
{
        status_get_task(c->s, stage, row, t);
        if (t->duration_ms < 0)
                t->duration_ms = MAX(c->now_ms - t->launch_ms, (int64_t)0);
}

static void api_put_task_head(struct json_out *j, const struct status_task *t)
{
        json_int(j, "taskId", t->id);
        json_int(j, "index", t->index);
        json_int(j, "attempt", t->attempt);
        json_int(j, "partitionId", t->partition);
        api_put_date(j, "launchTime", t->launch_ms);
        if (t->getting_result_ms > 0)
                api_put_date(j, "resultFetchStart", t->getting_result_ms);
        if (t->duration_ms > 0) /* as Spark: a task of 0 ms has none */
                json_int(j, "duration", t->duration_ms);
        json_text(j, "executorId", t->executor_id);
        json_text(j, "host", t->host);
        json_text(j, "status", api_row_states[t->status]);
        json_text(j, "taskLocality", locality_name(t->locality));
        json_bool(j, "speculative", t->speculative);
}

void api_put_task(struct api_call *c, const char *name, const struct status_stage *stage, size_t row)
{
        static const struct strmap no_logs = {0};
        struct json_out *j = &c->json;
        struct status_task t;
        api_get_row(c, stage, row, &t);
        json_begin_in(j, name);
        api_put_task_head(j, &t);
        api_put_accumulables(j, t.note ? t.note->accumulables : NULL, t.note ? t.note->n_accumulables : 0);
        if (t.note && t.note->error)
                json_text(j, "errorMessage", t.note->error);
        if (t.has_metrics)
                api_put_task_metrics(j, &t);
        const struct status_executor *x = status_find_executor(c->s, t.executor_id);
        api_put_map(j, "executorLogs", x ? &x->logs : &no_logs);
        json_int(j, "schedulerDelay", t.scheduler_delay_ms);
        json_int(j, "gettingResultTime", t.getting_result_time_ms);
        json_end(j);
}

const struct status_stage *api_put_tasks(struct api_call *c, const struct status_stage *stage, uint32_t statuses)
{
        enum { ROWS_AT_ONCE = 64 };
        const int id = stage->id, attempt = stage->attempt;
        json_begin_in(&c->json, "tasks");
        for (size_t row = 0; row < stage->columns.n_rows; row++) {
                if (row % ROWS_AT_ONCE == 0 && app_view_pause(c->view)) {
                        stage = status_find_stage(c->s, id, attempt);
                        if (!stage)
                                return NULL;
                }
                if (task_columns_is_removed(&stage->columns, row))
                        continue;
                if (statuses && !(statuses >> task_columns_value(&stage->columns, row, TASK_STATUS) & 1))
                        continue;
                char name[24];
                snprintf(name, sizeof(name), "%" PRId64, task_columns_value(&stage->columns, row, TASK_ID));
                api_put_task(c, name, stage, row);
                if (c->a->body.len > API_MAX_ANSWER)
                        return NULL;
        }
        json_end(&c->json);
        return stage;
}

/* ----------------------------------------------------------------------------------------------------- lists */

static void api_put_task_page(struct api_call *c, const char *name, const struct status_stage *stage,
                              const struct task_page *page)
{
        size_t *rows = new_array(size_t, page->length);
        size_t n = stage ? task_columns_page(&stage->columns, page, rows) : 0;
        json_list(&c->json, name);
        for (size_t i = 0; i < n && c->a->body.len < API_MAX_ANSWER; i++)
                api_put_task(c, NULL, stage, rows[i]);
        json_list_end(&c->json);
        free(rows);
        if (c->a->body.len >= API_MAX_ANSWER)
                api_fail(c, 413, "the list of tasks has more than %zu MiB: use offset and length",
                         API_MAX_ANSWER >> 20);
}

void api_serve_task_list(struct api_call *c, const struct status_stage *stage)
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
        struct task_page page = {.column = by_time ? TASK_METRIC(executor_run_ms) : TASK_ID,
                                 .descending = sort & (1u << SORT_DECREASING | 1u << SORT_DECREASING_NAME),
                                 .offset = (size_t)MAX(offset, 0),
                                 .length = stage ? MIN((size_t)MAX(length, 0), stage->columns.n_rows) : 0,
                                 .statuses = statuses};
        api_put_task_page(c, NULL, stage, &page);
}

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
        size_t n = column == TASK_STATUS     ? ARRAY_SIZE(api_row_states)
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
                values[i].name = column == TASK_STATUS          ? api_row_states[i]
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

/* ---- few tasks have a text: they come behind all others */

struct api_text_row {
        const char *text;
        size_t row;
};

static int api_text_row_compare(const void *a, const void *b)
{
        const struct api_text_row *x = a, *y = b;
        int order = strcmp(x->text, y->text);
        return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* The text by which a task sorts: its error, or the name of its first accumulator. NULL: none. */
static const char *api_note_text(const struct status_task_note *note, bool errors)
{
        if (errors)
                return note->error;
        return note->n_accumulables && note->accumulables[0].name ? note->accumulables[0].name : NULL;
}

static bool api_page_has(const struct task_page *page, size_t row)
{
        return !page->only || page->only[row / 64] >> row % 64 & 1;
}

/* Returns the tasks with a text, sorted by it, and sets the bits of their rows. */
static struct api_text_row *api_collect_texts(const struct status_stage *stage, const struct task_page *page,
                                              bool errors, uint64_t *bits, size_t *n)
{
        struct api_text_row *list = new_array(struct api_text_row, stage->notes.len);
        *n = 0;
        for (size_t i = 0; i < stage->notes.len; i++) {
                const struct status_task_note *note = &stage->notes.data[i];
                const char *text = api_note_text(note, errors);
                if (!text || task_columns_is_removed(&stage->columns, note->row) || !api_page_has(page, note->row))
                        continue;
                list[(*n)++] = (struct api_text_row){text, note->row};
                bits[note->row / 64] |= UINT64_C(1) << note->row % 64;
        }
        qsort(list, *n, sizeof(*list), api_text_row_compare);
        return list;
}

/* Fills rows of the page in the order of errors or accumulators. Returns their number. */
static size_t api_sort_by_text(const struct status_stage *stage, const struct task_page *page, bool errors,
                               size_t *rows)
{
        const struct task_columns *t = &stage->columns;
        uint64_t *bits = new_array(uint64_t, t->n_rows / 64 + 1);
        size_t n_texts, at = 0, out = 0;
        struct api_text_row *texts = api_collect_texts(stage, page, errors, bits, &n_texts);
        for (size_t i = 0; page->descending && i < n_texts && out < page->length; i++, at++)
                if (at >= page->offset)
                        rows[out++] = texts[n_texts - 1 - i].row;
        for (size_t i = 0; i < t->n_rows && out < page->length; i++) {
                size_t row = page->descending ? t->n_rows - 1 - i : i;
                if (bits[row / 64] >> row % 64 & 1 || !api_page_has(page, row) || task_columns_is_removed(t, row))
                        continue;
                if (at++ >= page->offset)
                        rows[out++] = row;
        }
        for (size_t i = 0; !page->descending && i < n_texts && out < page->length; i++, at++)
                if (at >= page->offset)
                        rows[out++] = texts[i].row;
        free(texts);
        free(bits);
        return out;
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

/* Fills the sorted rows of a page. */
static size_t api_sort_rows(struct api_call *c, const struct status_stage *stage, const struct api_table_request *t,
                            struct task_page *page, size_t *rows)
{
        if (t->column->column == TASK_ALL_COLUMNS)
                return api_sort_by_text(stage, page, strcmp(t->column->heading, "Errors") == 0, rows);
        int64_t *rank = api_rank_values(c, t->column->heading, t->column->column);
        page->column = t->column->column;
        page->rank = rank;
        size_t n = task_columns_page(&stage->columns, page, rows);
        free(rank);
        return n;
}

void api_serve_task_table(struct api_call *c, const struct status_stage *stage)
{
        struct api_table_request t;
        struct json_out *j = &c->json;
        if (!api_get_table_request(c, &t))
                return;
        size_t n = 0, n_rows = stage ? stage->columns.n_rows : 0;
        struct task_page page = {.descending = t.descending,
                                 .offset = (size_t)MAX(t.start, 0),
                                 .length = MIN((size_t)MAX(t.length, 0), n_rows)};
        uint64_t *found = NULL;
        char number[24];
        const char *filtered = t.total;
        if (t.search && *t.search && n_rows && t.n_tasks > 0) {
                found = new_array(uint64_t, n_rows / 64 + 1);
                snprintf(number, sizeof(number), "%zu", api_search_tasks(c, stage, t.search, found));
                filtered = number;
                page.only = found;
        }
        size_t *rows = new_array(size_t, page.length);
        if (page.length)
                n = api_sort_rows(c, stage, &t, &page, rows);
        json_begin(j); /* in the order of Java's HashMap */
        json_text(j, "recordsFiltered", filtered);
        json_list(j, "aaData");
        for (size_t i = 0; i < n && c->a->body.len < API_MAX_ANSWER; i++)
                api_put_task(c, NULL, stage, rows[i]);
        json_list_end(j);
        json_text(j, "recordsTotal", t.total);
        json_end(j);
        free(rows);
        free(found);
        if (c->a->body.len >= API_MAX_ANSWER)
                api_fail(c, 413, "the table has more than %zu MiB: ask for fewer tasks", API_MAX_ANSWER >> 20);
}
