/*
 * See row_sink.h. The pages are not counted in the memory manager's pool: spark.driver.maxResultSize limits results. A
 * partition stops when it has @limit rows.
 */
#include "exec/actions/row_sink.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/page.h"

struct row_sink {
        struct op op;
        int64_t limit, rows;
        struct page *first, *last;
};

static int row_begin(struct op *op)
{
        container_of(op, struct row_sink, op)->rows = 0;
        return 0;
}

static int row_sink_add_page(struct row_sink *sink, size_t record)
{
        struct page *page;
        int r = page_new(NULL, sink->op.type, record, &page);
        if (r)
                return task_run_fail(sink->op.run, -ENOMEM,
                                     "no memory for a result row of %zu bytes: save rows instead of collecting them, "
                                     "raise spark.executor.memory (with a local master spark.driver.memory, or the "
                                     "limit of the control group), or run fewer tasks at a time",
                                     record);
        if (sink->last)
                sink->last->next = page;
        else
                sink->first = page;
        sink->last = page;
        return 0;
}

static int row_consume(struct op *op, const struct rows *in)
{
        struct row_sink *sink = container_of(op, struct row_sink, op);
        fst_batch batch = in->batch;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        batch.rows = (uint32_t)MIN((int64_t)batch.rows, sink->limit - sink->rows);
        uint32_t at = 0;
        while (at < batch.rows) {
                uint32_t n = sink->last ? page_append(sink->last, &batch, at) : 0;
                at += n;
                int r = at < batch.rows ? row_sink_add_page(sink, page_record_size(&batch, at)) : 0;
                if (r)
                        return r;
        }
        sink->rows += batch.rows;
        return sink->rows >= sink->limit ? OP_ENOUGH : 0;
}

static void row_abandon(struct op *op)
{
        struct row_sink *sink = container_of(op, struct row_sink, op);
        page_list_free(NULL, sink->first);
        sink->first = sink->last = NULL;
}

static void row_free(struct op *op)
{
        row_abandon(op);
        op_deinit(op);
        free(container_of(op, struct row_sink, op));
}

static const struct op_class row_class = {"collect", .begin = row_begin, .consume = row_consume, .abandon = row_abandon,
                                          .free = row_free};

struct op *row_sink_new(struct task_run *run, fst_type type, int64_t limit)
{
        struct row_sink *sink = new0(struct row_sink);
        op_init(&sink->op, &row_class, run, type);
        sink->limit = limit;
        return &sink->op;
}

struct page *row_sink_take(struct op *op, size_t *bytes)
{
        struct row_sink *sink = container_of(op, struct row_sink, op);
        struct page **link = &sink->first; /* the link of the last page, after the loop */
        *bytes = 0;
        for (struct page *page = sink->first; page; page = page->next) {
                *bytes += page->used;
                if (page->next)
                        link = &page->next;
        }
        if (*link)
                *link = page_shrink(*link);
        sink->last = NULL;
        return steal(sink->first);
}

void row_pages_discard(struct action *action, struct task_result *result)
{
        page_list_free(NULL, result->data);
}

/* ---------------------------------------------------------------------------------------------------- on the wire */

/* Encodes the pages one after another in their wire form (store/page.h). */
int row_pages_encode(const struct action *action, const struct task_result *result, struct buf *out,
                     struct fst_error *error)
{
        size_t total = 0;
        for (const struct page *page = result->data; page; page = page->next)
                total += PAGE_WIRE_HEADER + page->used;
        if (!buf_try_reserve(out, total))
                return error_set(error, -ENOMEM,
                                 "no memory for a result of %zu bytes: save rows instead of collecting them, raise "
                                 "spark.executor.memoryOverhead, or run fewer tasks at a time",
                                 total);
        for (const struct page *page = result->data; page; page = page->next) {
                unsigned char header[PAGE_WIRE_HEADER];
                page_wire_header(page, header);
                buf_append(out, header, sizeof(header));
                buf_append(out, page->data, page->used);
        }
        return 0;
}

/*
 * Copies the @used bytes at @data to a page. A small page gets its own size, so that little data cannot become much
 * memory.
 */
static int page_from_wire(fst_type type, const unsigned char *data, uint32_t used, uint32_t rows, struct page **page)
{
        size_t block = (sizeof(struct page) + used + 15) & ~(size_t)15;
        int r = block < PAGE_BLOCK ? page_new_small(NULL, type, block, page) : page_new(NULL, type, used, page);
        if (r)
                return r;
        memcpy((*page)->data, data, used);
        (*page)->used = used;
        (*page)->rows = rows;
        return 0;
}

static int read_wire_page(fst_type type, const unsigned char **at, size_t *left, struct page **out,
                          struct fst_error *error)
{
        uint32_t bytes, rows;
        uint64_t checksum;
        struct page *page;
        if (*left < PAGE_WIRE_HEADER)
                return error_set(error, -EBADMSG, "the result ends within a page header");
        int r = page_wire_check(*at, type, *left - PAGE_WIRE_HEADER, &bytes, &rows, &checksum, error);
        if (r)
                return r;
        if (bytes == 0)
                return error_set(error, -EBADMSG, "the result has a page without rows");
        if (page_from_wire(type, *at + PAGE_WIRE_HEADER, bytes, rows, &page))
                return error_set(error, -ENOMEM, NO_DRIVER_MEMORY, (size_t)bytes);
        r = page_validate(page, checksum, error);
        if (r) {
                page_free(NULL, page);
                return r;
        }
        *at += PAGE_WIRE_HEADER + bytes;
        *left -= PAGE_WIRE_HEADER + bytes;
        *out = page;
        return 0;
}

int row_pages_decode(fst_type type, int64_t limit, const unsigned char *data, size_t len, struct task_result *result,
                     struct fst_error *error)
{
        int64_t rows = 0;
        struct page *first = NULL, **link = &first;
        size_t bytes = 0;
        while (len > 0) {
                int r = read_wire_page(type, &data, &len, link, error);
                if (r == 0 && (rows += (*link)->rows) > limit)
                        r = error_set(error, -EBADMSG, "the result has more than the %lld rows requested",
                                      (long long)limit);
                if (r) {
                        page_list_free(NULL, first);
                        return r;
                }
                bytes += (*link)->used;
                link = &(*link)->next;
        }
        result->data = first;
        result->bytes = bytes;
        return 0;
}
