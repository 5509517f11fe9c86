/* See result_rows.h. Results are in pages (exec/actions/row_sink.h), outside the memory manager's pool. */
#include "driver/actions/result_rows.h"

#include "base/mem.h"
#include "rdd/pipeline/struct_view.h"
#include "sched/sched_conf.h"
#include "store/page.h"

/* -------------------------------------------------------------------------------------------------- collection */

static int rows_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct rows_job *self = container_of(action, struct rows_job, rows.action);
        self->bytes += result->bytes;
        if (self->max_bytes && self->bytes > self->max_bytes) {
                page_list_free(NULL, result->data);
                return error_set(error, -E2BIG,
                                 "Total size of serialized results of tasks (%zu bytes) is bigger than "
                                 "spark.driver.maxResultSize (%zu bytes): " RESULT_SIZE_REMEDY,
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

struct rows_action rows_action_of(const struct action_class *class, const fst_rdd *rdd, fst_type made, int64_t limit)
{
        return (struct rows_action){
                .action = {.class = class, .type = rdd->type, .merge = rows_merge, .reset = rows_reset},
                .limit = limit,
                .made = made};
}

int rows_job_prepare(struct rows_job *job, fst_rdd *rdd, int n, struct fst_error *error)
{
        int64_t max;
        job->pages = NULL;
        job->n = 0;
        job->bytes = 0;
        int r = conf_get_bytes(rdd->sc->conf, "spark.driver.maxResultSize", &max, error);
        if (r)
                return r;
        job->max_bytes = (size_t)max;
        job->n = n;
        job->pages = new_array(struct page *, (size_t)n);
        return 0;
}

int rows_job_run(struct rows_job *job, fst_rdd *rdd, const int *partitions, int n, fst_site site,
                 struct fst_error *error)
{
        int r = action_check(rdd, error);
        if (r == 0)
                r = rows_job_prepare(job, rdd, partitions ? n : rdd->lineage.partitions, error);
        return r ? r : action_run(rdd, &job->rows.action, partitions, n, site, error);
}

struct page *rows_job_take(struct rows_job *job, int64_t *rows)
{
        struct page *first = NULL, **tail = &first;
        int64_t n = 0;
        for (int i = 0; i < job->n; i++) {
                *tail = steal(job->pages[i]);
                for (; *tail; tail = &(*tail)->next)
                        n += (*tail)->rows;
        }
        if (rows)
                *rows = n;
        return first;
}

void rows_job_deinit(struct rows_job *job)
{
        if (job->pages)
                rows_reset(&job->rows.action);
        free(steal(job->pages));
}

/* ------------------------------------------------------------------------------------ iteration */

/*
 * Rows of collect and take stay valid until the context stops. BYTES, and FIXED rows without keys, are views into the
 * pages. The cursor copies the structs of pairs into memory that stays. If nothing is a view, a page is freed once it
 * was read.
 */
struct owned_column {
        struct owned_column *next;
        char data[] __attribute__((aligned(16)));
};

struct owned_rows {
        fst_iter iter;
        struct context_result owned;
        fst_type type;
        struct struct_view view;   /* of columns of structs; its arrays are not used */
        struct page *first, *next; /* first: freed at the end */
        struct page_cursor cursor;
        struct owned_column *columns;
        bool reading;
        int64_t left; /* rows still to return */
};

/* Memory for a column of the current batch with rows of @size bytes, cleared. */
static char *owned_rows_alloc(struct owned_rows *rows, size_t size)
{
        struct owned_column *owned = mem_zero(sizeof(*owned) + (size_t)rows->iter.batch.rows * size);
        owned->next = rows->columns;
        rows->columns = owned;
        return owned->data;
}

/* Gives the current batch's @column memory that stays, if the cursor would overwrite it. */
static void owned_rows_keep_column(struct owned_rows *rows, fst_column *column, fst_column cursors, uint8_t kind,
                                   uint32_t size)
{
        if (kind != FST_KIND_FIXED || column->fixed != cursors.fixed)
                return;
        char *kept = owned_rows_alloc(rows, size);
        memcpy(kept, column->fixed, (size_t)rows->iter.batch.rows * size);
        column->fixed = kept;
}

/* Makes the structs of the current batch's @column, if it has some. False: a row is damaged. */
static bool owned_rows_make_structs(struct owned_rows *rows, struct struct_column *structs, fst_column *column)
{
        struct fst_error error = FST_ERROR_INIT;
        if (!structs->type)
                return true;
        char *kept = owned_rows_alloc(rows, structs->type->size);
        rows->iter.status = struct_column_read_to(structs, column->bytes, rows->iter.batch.rows, kept, &error);
        column->fixed = kept;
        if (rows->iter.status)
                context_misused("%s", error_message(&error));
        error_deinit(&error);
        return rows->iter.status == 0;
}

static bool owned_rows_keep_columns(struct owned_rows *rows)
{
        fst_batch *batch = &rows->iter.batch;
        owned_rows_keep_column(rows, &batch->key, rows->cursor.key, batch->type.key, batch->type.key_size);
        owned_rows_keep_column(rows, &batch->value, rows->cursor.value, batch->type.value, batch->type.value_size);
        batch->type = rows->view.seen;
        return owned_rows_make_structs(rows, &rows->view.key, &batch->key) &&
               owned_rows_make_structs(rows, &rows->view.value, &batch->value);
}

/* Frees the page that was read. */
static void owned_rows_drop_page(struct owned_rows *rows)
{
        if (!rows->reading || !rows->columns || fst_type_has_bytes(rows->type))
                return;
        rows->first = rows->next;
        page_free(NULL, (struct page *)rows->cursor.page);
}

static bool owned_rows_refill(fst_iter *iter)
{
        struct owned_rows *rows = container_of(iter, struct owned_rows, iter);
        iter->at = 0;
        for (;;) {
                if (rows->reading && page_cursor_next(&rows->cursor, &iter->batch)) {
                        iter->batch.rows = (uint32_t)MIN((int64_t)iter->batch.rows, rows->left);
                        rows->left -= iter->batch.rows;
                        if (iter->batch.rows == 0)
                                return false;
                        return owned_rows_keep_columns(rows);
                }
                iter->batch.rows = 0;
                owned_rows_drop_page(rows);
                rows->reading = rows->next != NULL;
                if (!rows->next)
                        return false;
                page_cursor_start(&rows->cursor, rows->next);
                rows->next = rows->next->next;
        }
}

static void owned_rows_free(struct context_result *owned)
{
        struct owned_rows *rows = container_of(owned, struct owned_rows, owned);
        page_list_free(NULL, rows->first);
        page_cursor_deinit(&rows->cursor);
        struct_view_deinit(&rows->view);
        while (rows->columns) {
                struct owned_column *next = rows->columns->next;
                free(rows->columns);
                rows->columns = next;
        }
}

fst_iter *result_rows_new(fst_context *sc, fst_type type, struct page *pages, int64_t limit)
{
        struct owned_rows *rows = new0(struct owned_rows);
        rows->type = type;
        struct_view_init(&rows->view, type);
        rows->iter.tag = fst_type_tag(rows->view.seen);
        rows->iter.batch.type = rows->view.seen;
        rows->iter.refill = owned_rows_refill;
        rows->owned.free = owned_rows_free;
        rows->owned.iter = &rows->iter;
        rows->owned.memory = rows;
        rows->left = limit;
        rows->first = rows->next = pages;
        page_cursor_init(&rows->cursor, type);
        context_own(sc, &rows->owned);
        return &rows->iter;
}
