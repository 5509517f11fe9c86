/*
 * Finds the tasks of a stage that contain a text in any column, as the search field of the stage page does. Texts that
 * many tasks share are compared once: executors, states, levels. Their columns are read only if one of these has the
 * text, and numbers only for a text of digits.
 */
#include "text/digit_search.h"
#include "ui/api/api_internal.h"

/* Numbers that every task has, then those of tasks with metrics. */
static const enum task_column api_search_columns[] = {
        TASK_ID,
        TASK_INDEX,
        TASK_ATTEMPT,
        TASK_DURATION,
        TASK_SCHEDULER_DELAY,
        TASK_GETTING_RESULT_TIME,
        TASK_METRIC(executor_deserialize_ms),
        TASK_METRIC(executor_run_ms),
        TASK_METRIC(jvm_gc_ms),
        TASK_METRIC(result_serialization_ms),
        TASK_METRIC(memory_bytes_spilled),
        TASK_METRIC(disk_bytes_spilled),
        TASK_METRIC(peak_execution_memory),
        TASK_METRIC(input_bytes),
        TASK_METRIC(input_records),
        TASK_METRIC(output_bytes),
        TASK_METRIC(output_records),
        TASK_METRIC(shuffle_read.fetch_wait_ms),
        TASK_METRIC(shuffle_read.records),
        TASK_METRIC(shuffle_write.bytes),
        TASK_METRIC(shuffle_write.records),
        TASK_METRIC(shuffle_write.write_ns),
};
enum { SEARCH_WITHOUT_METRICS = 6 };

struct api_search {
        const char *text;
        bool *executors; /* by number: id or host contain the text */
        bool statuses[TASK_ROW_KILLED + 1], levels[LOCALITY_LEVELS], speculative[2];
        bool has_names;              /* one of them contains it */
        struct digit_search *digits; /* NULL: the text is not part of a number */
};

static bool api_search_has(const struct api_search *a, const char *text)
{
        return strcasestr(text, a->text) != NULL;
}

static bool api_search_has_name(struct api_search *a, const char *name)
{
        bool has = api_search_has(a, name);
        a->has_names |= has;
        return has;
}

static void api_search_init(struct api_search *a, const struct status *s, const char *text)
{
        *a = (struct api_search){.text = text};
        a->executors = new_array(bool, s->executor_names.len);
        for (size_t i = 0; i < s->executor_names.len; i++)
                a->executors[i] = api_search_has_name(a, s->executor_names.data[i].id) ||
                                  api_search_has_name(a, s->executor_names.data[i].host);
        for (size_t i = 0; i < ARRAY_SIZE(a->statuses); i++)
                a->statuses[i] = api_search_has_name(a, api_task_status_name((enum task_row_status)i));
        for (size_t i = 0; i < ARRAY_SIZE(a->levels); i++)
                a->levels[i] = api_search_has_name(a, locality_name((enum task_locality)i));
        a->speculative[false] = api_search_has_name(a, "false");
        a->speculative[true] = api_search_has_name(a, "true");
        if (strspn(text, "-0123456789") == strlen(text))
                a->digits = digit_search_new(text);
}

static void api_search_mark(uint64_t *found, size_t row)
{
        found[row / 64] |= UINT64_C(1) << row % 64;
}

/* Marks the rows of a block whose executor, state, level or speculation contain the text. */
static void api_search_names(const struct api_search *a, const struct task_columns *t, size_t first, uint64_t *found)
{
        int64_t executor[TASK_BLOCK_ROWS], status[TASK_BLOCK_ROWS], level[TASK_BLOCK_ROWS], second[TASK_BLOCK_ROWS];
        size_t n = task_columns_read(t, first, TASK_EXECUTOR, executor);
        task_columns_read(t, first, TASK_STATUS, status);
        task_columns_read(t, first, TASK_LOCALITY, level);
        task_columns_read(t, first, TASK_SPECULATIVE, second);
        for (size_t i = 0; i < n; i++)
                if (a->executors[executor[i]] || a->statuses[status[i]] || a->levels[level[i]] ||
                    a->speculative[second[i] != 0])
                        api_search_mark(found, first + i);
}

/* Marks the rows of a block one of whose numbers contains the text. */
static void api_search_numbers(const struct api_search *a, const struct task_columns *t, size_t first, uint64_t *found)
{
        int64_t values[TASK_BLOCK_ROWS], metrics[TASK_BLOCK_ROWS], least = 0, greatest = 0;
        uint64_t all[TASK_BLOCK_ROWS / 64] = {0}, measured[TASK_BLOCK_ROWS / 64] = {0}; /* the latter if with metrics */
        size_t n = MIN(t->n_rows - first, (size_t)TASK_BLOCK_ROWS);
        for (size_t k = 0; k < ARRAY_SIZE(api_search_columns); k++) {
                uint64_t *bits = k < SEARCH_WITHOUT_METRICS ? all : measured;
                bool is_known = task_columns_range(t, first, api_search_columns[k], &least, &greatest);
                if (is_known && !digit_search_may_find(a->digits, least, greatest))
                        continue;
                struct digit_offsets packed = {.least = least, .greatest = greatest};
                if (is_known)
                        packed.offsets = task_columns_packed(t, first, api_search_columns[k], &packed.width);
                if (is_known && least == greatest) {
                        memset(bits, 0xff, sizeof(all));
                } else if (packed.offsets) {
                        digit_search_mark_offsets(a->digits, &packed, n, bits);
                } else {
                        task_columns_read(t, first, api_search_columns[k], values);
                        digit_search_mark(a->digits, values, n, bits);
                }
        }
        if (task_columns_range(t, first, TASK_HAS_METRICS, &least, &greatest) && least == greatest && n % 64 == 0) {
                for (size_t word = 0; word < n / 64; word++)
                        found[first / 64 + word] |= all[word] | (least ? measured[word] : 0);
                return;
        }
        task_columns_read(t, first, TASK_HAS_METRICS, metrics);
        for (size_t i = 0; i < n; i++)
                if ((all[i / 64] | (measured[i / 64] & -(uint64_t)(metrics[i] != 0))) >> i % 64 & 1)
                        api_search_mark(found, first + i);
}

/* Takes the marks of removed rows off, and returns how many remain. */
static size_t api_search_count(const struct task_columns *t, uint64_t *found)
{
        size_t n = 0;
        for (size_t row = 0; t->n_retained < t->n_rows && row < t->n_rows; row++)
                if (task_columns_is_removed(t, row))
                        found[row / 64] &= ~(UINT64_C(1) << row % 64);
        for (size_t word = 0; word < (t->n_rows + 63) / 64; word++)
                n += (size_t)__builtin_popcountll(found[word]);
        return n;
}

size_t api_search_tasks(const struct api_call *c, const struct status_stage *stage, const char *text, uint64_t *found)
{
        const struct task_columns *t = &stage->columns;
        struct api_search a;
        api_search_init(&a, c->s, text);
        bool everywhere = api_search_has(&a, "d"); /* what Spark writes for a value that is absent */
        for (size_t first = 0; first < t->n_rows; first += TASK_BLOCK_ROWS) {
                if (task_columns_is_removed(t, first) && t->n_retained == 0)
                        continue;
                if (a.has_names)
                        api_search_names(&a, t, first, found);
                if (a.digits)
                        api_search_numbers(&a, t, first, found);
        }
        for (size_t i = 0; i < stage->notes.len; i++)
                if (stage->notes.data[i].error && api_search_has(&a, stage->notes.data[i].error))
                        api_search_mark(found, stage->notes.data[i].row);
        for (size_t row = 0; everywhere && row < t->n_rows; row++)
                api_search_mark(found, row);
        digit_search_free(a.digits);
        free(a.executors);
        return api_search_count(t, found);
}
