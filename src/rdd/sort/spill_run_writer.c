/* See spill_run_writer.h. */
#include "rdd/sort/spill_run_writer.h"

#include "base/error.h"
#include "base/mem.h"

int spill_run_writer_begin(struct spill_run_writer *w, const struct spill_space *space, fst_type type,
                           struct spill_run *run, struct fst_error *error)
{
        if (!w->spill) {
                struct spill_options options = {.dirs = space->dirs,
                                                .type = type,
                                                .codec = space->spill_codec,
                                                .level = space->level,
                                                .if_cheaper = space->spill_if_cheaper};
                int r = spill_new(&options, &w->spill, error);
                if (r)
                        return r;
        }
        if (!w->gather) {
                int r = page_new(NULL, type, 0, &w->gather);
                if (r)
                        return error_set(error, r, "no memory for writing runs");
        }
        w->gather->rows = w->gather->used = 0; /* leftovers of a failed run */
        run->start = run->end = spill_end(w->spill);
        return 0;
}

static int spill_run_write_gathered(struct spill_run_writer *w, struct fst_error *error)
{
        int r = w->gather->rows ? spill_write_page(w->spill, w->gather, NULL, NULL, error) : 0;
        w->gather->rows = w->gather->used = 0;
        return r;
}

/* Writes a record larger than a page in a page of its own, which is freed at once. */
static int spill_run_write_large(struct spill_run_writer *w, const fst_batch *batch, uint32_t row,
                                 struct fst_error *error)
{
        struct page *page;
        int r = page_new(NULL, batch->type, page_record_size(batch, row), &page);
        if (r)
                return error_set(error, r, "no memory for writing a row of %zu bytes", page_record_size(batch, row));
        page_append_row(page, batch, row);
        r = spill_write_page(w->spill, page, NULL, NULL, error);
        page_free(NULL, page);
        return r;
}

int spill_run_writer_rows(struct spill_run_writer *w, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t row = 0;;) {
                row += page_append(w->gather, batch, row);
                if (row == batch->rows)
                        return 0;
                bool fits = page_record_size(batch, row) <= PAGE_CAPACITY;
                int r = spill_run_write_gathered(w, error);
                if (!r && !fits)
                        r = spill_run_write_large(w, batch, row++, error);
                if (r)
                        return r;
        }
}

int spill_run_writer_end(struct spill_run_writer *w, struct spill_run *run, struct fst_error *error)
{
        int r = spill_run_write_gathered(w, error);
        if (!r)
                run->end = spill_end(w->spill);
        return r;
}

int spill_run_writer_finish(struct spill_run_writer *w, struct fst_error *error)
{
        page_free(NULL, steal(w->gather));
        return spill_finish(w->spill, error);
}

void spill_run_writer_deinit(struct spill_run_writer *w)
{
        page_free(NULL, steal(w->gather));
        spill_free(steal(w->spill));
}
