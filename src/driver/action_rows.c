/*
 * collect and take: rows at the driver.
 *
 * Tasks send their rows as pages (exec/action_rows.c), held to spark.driver.maxResultSize in all. take asks few
 * partitions first and more of them as long as rows are missing, by Spark's rule.
 */
#include "driver/actions.h"

#include "base/mem.h"
#include "exec/action_kinds.h"
#include "store/page.h"

#include <math.h>

struct rows_job {
        struct rows_action rows;
        struct page **pages; /* lists, by output */
        int n;
        size_t bytes, max_bytes;
};

static int rows_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct rows_job *self = container_of(action, struct rows_job, rows.action);
        self->bytes += result->bytes;
        if (self->max_bytes && self->bytes > self->max_bytes) {
                page_list_free(NULL, result->data);
                return error_set(error, -E2BIG,
                                 "Total size of serialized results of tasks (%zu bytes) is bigger than "
                                 "spark.driver.maxResultSize (%zu bytes)",
                                 self->bytes, self->max_bytes);
        }
        self->pages[output] = result->data;
        return 0;
}

static void rows_reset(struct action *action)
{
        struct rows_job *self = container_of(action, struct rows_job, rows.action);
        for (int i = 0; i < self->n; i++)
                page_list_free(NULL, steal(self->pages[i]));
        self->bytes = 0;
}

static int rows_init(struct rows_job *self, fst_rdd *rdd, int64_t limit, struct fst_error *error)
{
        int64_t max;
        int r = action_check(rdd, error);
        if (r == 0)
                r = conf_get_bytes(rdd->sc->conf, "spark.driver.maxResultSize", &max, error);
        if (r)
                return r;
        *self = (struct rows_job){
                .rows = {{.class = &rows_action_class, .type = rdd->type, .merge = rows_merge, .reset = rows_reset}, limit},
                .max_bytes = (size_t)max};
        return 0;
}

/* ------------------------------------------------------------------------------------ what the application reads */

/*
 * Rows of collect and take are valid until the context stops. BYTES are views into the pages; so are FIXED rows that
 * are no pairs. A pair's structs, which the cursor copies out of records, are put into memory that stays; if nothing is
 * a view then, a page that was read can go.
 */
struct kept_column {
        struct kept_column *next;
        char data[] __attribute__((aligned(16)));
};

struct kept_rows {
        fst_iter iter;
        struct kept_result kept;
        struct page *first, *next; /* first: what is freed at the end */
        struct page_cursor cursor;
        struct kept_column *columns;
        bool reading;
        int64_t left; /* rows that may still be given */
};

/* @column of the batch at hand as one that stays, if the cursor is to fill its memory again. */
static void keep_column(struct kept_rows *rows, fst_column *column, fst_column cursors, uint8_t kind, uint32_t size)
{
        if (kind != FST_KIND_FIXED || column->fixed != cursors.fixed)
                return;
        size_t bytes = (size_t)rows->iter.batch.rows * size;
        struct kept_column *kept = mem_alloc(sizeof(*kept) + bytes);
        memcpy(kept->data, column->fixed, bytes);
        kept->next = rows->columns;
        rows->columns = kept;
        column->fixed = kept->data;
}

static void keep_columns(struct kept_rows *rows)
{
        fst_batch *batch = &rows->iter.batch;
        keep_column(rows, &batch->key, rows->cursor.key, batch->type.key, batch->type.key_size);
        keep_column(rows, &batch->value, rows->cursor.value, batch->type.value, batch->type.value_size);
}

/* The page that was read to its end is not needed any more. */
static void drop_read_page(struct kept_rows *rows)
{
        if (!rows->reading || !rows->columns || fst_type_has_bytes(rows->iter.batch.type))
                return;
        rows->first = rows->next;
        page_free(NULL, (struct page *)rows->cursor.page);
}

static bool kept_refill(fst_iter *iter)
{
        struct kept_rows *rows = container_of(iter, struct kept_rows, iter);
        iter->at = 0;
        for (;;) {
                if (rows->reading && page_cursor_next(&rows->cursor, &iter->batch)) {
                        iter->batch.rows = (uint32_t)MIN((int64_t)iter->batch.rows, rows->left);
                        rows->left -= iter->batch.rows;
                        if (iter->batch.rows == 0)
                                return false;
                        keep_columns(rows);
                        return true;
                }
                iter->batch.rows = 0;
                drop_read_page(rows);
                rows->reading = rows->next != NULL;
                if (!rows->next)
                        return false;
                page_cursor_start(&rows->cursor, rows->next);
                rows->next = rows->next->next;
        }
}

static void kept_rows_free(struct kept_result *kept)
{
        struct kept_rows *rows = container_of(kept, struct kept_rows, kept);
        page_list_free(NULL, rows->first);
        page_cursor_deinit(&rows->cursor);
        while (rows->columns) {
                struct kept_column *next = rows->columns->next;
                free(rows->columns);
                rows->columns = next;
        }
        free(rows);
}

static struct kept_rows *kept_rows_new(fst_rdd *rdd, int64_t limit)
{
        struct kept_rows *rows = new0(struct kept_rows);
        rows->iter.tag = fst_type_tag(rdd->type);
        rows->iter.batch.type = rdd->type;
        rows->iter.refill = kept_refill;
        rows->kept.free = kept_rows_free;
        rows->left = limit;
        page_cursor_init(&rows->cursor, rdd->type);
        return rows;
}

/* All rows are there: the application has them from now on. */
static fst_iter *hand_out(fst_rdd *rdd, struct kept_rows *rows)
{
        rows->next = rows->first;
        context_keep(rdd->sc, &rows->kept);
        return &rows->iter;
}

/* Put the lists of all outputs behind one another into @rows. Returns how many rows these are. */
static int64_t gather(struct rows_job *self, struct kept_rows *rows, struct page ***tail)
{
        int64_t n = 0;
        for (int i = 0; i < self->n; i++) {
                **tail = self->pages[i];
                self->pages[i] = NULL;
                for (; **tail; *tail = &(**tail)->next)
                        n += (**tail)->rows;
        }
        return n;
}

static void drop_pages(struct rows_job *self)
{
        for (int i = 0; i < self->n; i++)
                page_list_free(NULL, self->pages[i]);
        free(self->pages);
        self->pages = NULL;
}

FST_API int fst_collect_at(fst_rdd *rdd, fst_iter **iter, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct rows_job job;
        int r = rows_init(&job, rdd, INT64_MAX, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        job.n = rdd->lineage.partitions;
        job.pages = new_array(struct page *, (size_t)job.n);
        r = action_run(rdd, &job.rows.action, NULL, 0, site, &error);
        if (r == 0) {
                struct kept_rows *rows = kept_rows_new(rdd, INT64_MAX);
                struct page **tail = &rows->first;
                gather(&job, rows, &tail);
                *iter = hand_out(rdd, rows);
        }
        drop_pages(&job);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* How many partitions to look at next: Spark's rule, with spark.rdd.limit.* for its numbers. */
static int next_round(int seen, int64_t found, int64_t wanted, int64_t first, int64_t scale_up)
{
        if (seen == 0)
                return (int)MIN(first, (int64_t)INT32_MAX);
        double most = MIN((double)seen * (double)scale_up, (double)INT32_MAX);
        if (found == 0)
                return (int)most;
        /* As a double: with a great @wanted ("all there are") it fits no integer. */
        double guess = ceil(1.5 * (double)wanted * seen / (double)found) - seen;
        return (int)MAX(MIN(guess, most), 1.0);
}

static int take_round(fst_rdd *rdd, int from, int count, int64_t missing, struct kept_rows *rows, struct page ***tail,
                      int64_t *found, fst_site site, struct fst_error *error)
{
        struct rows_job job;
        int r = rows_init(&job, rdd, missing, error);
        if (r)
                return r;
        _cleanup_free_ int *partitions = new_array(int, (size_t)count);
        for (int i = 0; i < count; i++)
                partitions[i] = from + i;
        job.n = count;
        job.pages = new_array(struct page *, (size_t)count);
        r = action_run(rdd, &job.rows.action, partitions, count, site, error);
        if (r == 0)
                *found += gather(&job, rows, tail);
        drop_pages(&job);
        return r;
}

/* The first @count rows. */
static int take(fst_rdd *rdd, int64_t count, struct kept_rows **out, fst_site site, struct fst_error *error)
{
        int64_t found = 0, first = 1, scale_up = 4;
        int seen = 0;
        int r = action_check(rdd, error);
        if (r == 0)
                r = conf_get_int(rdd->sc->conf, "spark.rdd.limit.initialNumPartitions", &first, error);
        if (r == 0)
                r = conf_get_int(rdd->sc->conf, "spark.rdd.limit.scaleUpFactor", &scale_up, error);
        if (r)
                return r;
        struct kept_rows *rows = kept_rows_new(rdd, MAX(count, 0));
        struct page **tail = &rows->first;
        while (r == 0 && found < count && seen < rdd->lineage.partitions) {
                int n = MIN(next_round(seen, found, count, MAX(first, 1), MAX(scale_up, 2)),
                            rdd->lineage.partitions - seen);
                r = take_round(rdd, seen, n, count - found, rows, &tail, &found, site, error);
                seen += n;
        }
        rows->next = rows->first;
        if (r)
                kept_rows_free(&rows->kept);
        else
                *out = rows;
        return r;
}

FST_API int fst_take_at(fst_rdd *rdd, int64_t count, fst_iter **iter, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct kept_rows *rows;
        int r = take(rdd, count, &rows, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *iter = hand_out(rdd, rows);
        return 0;
}

static struct reduce_value value_at(fst_type type, fst_column column, uint32_t row)
{
        struct reduce_value value = {.present = true};
        if (type.key == FST_KIND_BYTES) {
                value.data = (char *)column.bytes[row].data;
                value.size = column.bytes[row].len;
        } else if (type.key == FST_KIND_FIXED) {
                value.data = column.fixed + (size_t)row * type.key_size;
                value.size = type.key_size;
        } else {
                value.number = column.i64[row];
        }
        return value;
}

static int first(fst_rdd *rdd, fst_variable key, fst_variable value, fst_site site, struct fst_error *error)
{
        char have[64], want[64];
        struct kept_rows *rows;
        fst_type key_type = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        fst_type value_type = {.key = rdd->type.value, .key_size = rdd->type.value_size};
        int r = action_check(rdd, error);
        if (r == 0 && fst_type_tag(rdd->type) != FST_TAG(key.kind, value.kind))
                r = error_set(error, -EINVAL, "first gives %s, but the variables are for %s",
                              fst_type_name(rdd->type, have), fst_tag_name(FST_TAG(key.kind, value.kind), want));
        if (r == 0)
                r = action_check_variable(key_type, key, "first", error);
        if (r == 0 && value.kind)
                r = action_check_variable(value_type, value, "first", error);
        if (r == 0)
                r = take(rdd, 1, &rows, site, error);
        if (r)
                return r;
        if (kept_refill(&rows->iter)) {
                struct reduce_value k = value_at(key_type, rows->iter.batch.key, 0);
                action_give(rdd->sc, key_type, &k, key);
                if (value.kind) {
                        struct reduce_value v = value_at(value_type, rows->iter.batch.value, 0);
                        action_give(rdd->sc, value_type, &v, value);
                }
        } else {
                r = error_set(error, -ENODATA, "empty collection");
        }
        kept_rows_free(&rows->kept);
        return r;
}

FST_API int fst_first_at(fst_rdd *rdd, fst_variable key, fst_variable value, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = first(rdd, key, value, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_is_empty_at(fst_rdd *rdd, bool *empty, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct kept_rows *rows;
        int r = take(rdd, 1, &rows, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *empty = !rows->first;
        kept_rows_free(&rows->kept);
        return 0;
}
