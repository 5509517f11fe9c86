/*
 * The map side of a shuffle; see shuffle_writer.h.
 *
 * Rows are scattered to an open page of each partition. When no page is granted, or another consumer of the task needs
 * memory, the writer moves all its pages to the output's file. At the end the pages become storage if the manager
 * grants it. Otherwise they go to disk. If the output has a stream, each full page is stored outside of executors at
 * once, and in the place of moving pages to disk the writer waits until they are stored, and frees them.
 *
 * With more partitions than available blocks, pages would be written with a row or two each. So if the open pages are
 * almost empty when memory runs out, the next ones are smaller. They grow again when full pages fill the memory.
 *
 * Map-side combining only reduces the data. When its table is full, its content is written out. When it saves nothing,
 * rows bypass it. Values that become accumulators of another type cannot bypass it: they are combined batch by batch in
 * a table that stays small. The table, or a sorter above, may use all memory of the task, so the pages for draining it
 * are reserved in advance.
 *
 * If the rows stay in this process, a row that is combined twice costs more than one that is only moved. So rows also
 * bypass the table if it does not, or would not, save a third of the first ones. A sample then counts the keys, and
 * combining starts again when there are two rows of a key. Not if the table has the keys of an earlier task, where they
 * repeated: it cannot tell how many of them this task has.
 */
#include "shuffle/shuffle_writer.h"

#include "base/fault_point.h"
#include "base/mem.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/aggregate/hash.h"
#include "rdd/aggregate/key_sample.h"
#include "rdd/aggregate/op_combine.h"
#include "rdd/cogroup/skewed_placer.h"
#include "shuffle/buckets/bucket_scatter.h"
#include "shuffle/remote_shuffle.h"
#include "store/page.h"
#include "shuffle/shuffle_store.h"

#define LEAST_BLOCK ((size_t)1 << 10)
#define SET_ASIDE (2 * PAGE_BLOCK)
#define FIRST_ROWS (1u << 17)            /* before rows may bypass the table for a sample of their keys */
#define FEW_ROWS (1u << 14)              /* the same if they repeat some keys, but as few as random ones of many do */
#define SAMPLE_ZEROS 4                   /* of 2^14 keys, 2^10 estimate their number well */
#define MIN_REPEATED 16                  /* rows that tell random keys from those that come in order */
#define MIN_POOL_TO_BYPASS (256ul << 20) /* bytes: uncombined rows take more memory */

struct shuffle_writer {
        struct op op;
        const fst_rdd *shuffled;
        const struct partitioner *partitioner;
        struct row_placer placing;
        struct skewed_placer *skewed; /* NULL: the partitioner is not SKEWED */
        struct shuffle_store *store;
        struct remote_shuffle *remote; /* which streams outputs to `place`; NULL: none does */
        uint32_t place;
        struct memory_consumer memory;
        struct shuffle_output *output; /* being filled, or finished and not taken yet */
        struct page **open;            /* by partition; NULL: none */
        size_t block;                  /* size of the next pages */
        size_t aside;                  /* reserved for pages in advance and not used yet */
        bool started, complete;
        bool doomed; /* the stream has failed */

        struct aggregate *aggregate; /* NULL: no combining */
        struct op *emitted;          /* receives the rows of a combining function, or NULL */
        bool combining;              /* combining has started and pays */
        bool adding;                 /* rows are being combined: the table must not change */
        bool sparse;                 /* few keys repeat, but values must still become accumulators */
        bool may_bypass;             /* rows may bypass the table for `sample` */
        bool sampling;               /* they do */
        uint64_t seen;               /* rows of the task so far, while sampling */
        struct key_sample *sample;   /* NULL: the rows leave this process, or none are combined */
        struct bucket_scatter *scatter; /* NULL: rows go to pages of records */
        uint64_t hashes[FST_BATCH_ROWS];
        uint32_t places[FST_BATCH_ROWS];
};

static struct shuffle_writer *writer_of(struct op *op)
{
        return container_of(op, struct shuffle_writer, op);
}

/* ----------------------------------------------------------------------------------------------------- pages */

static void shuffle_writer_close_page(struct shuffle_writer *w, uint32_t partition)
{
        struct page *page = w->open[partition];
        w->open[partition] = NULL;
        if (!page || !page->rows) {
                page_free(&w->memory, page);
                return;
        }
        struct remote_stream *stream = w->output->stream;
        shuffle_output_add(w->output, partition, page);
        if (stream && stream->class->add(stream, (int)partition, page))
                w->doomed = true;
}

/* Frees the pages in memory: they go to the output's file, or, with a stream, outside. */
static int shuffle_writer_empty(struct shuffle_writer *w, size_t *freed, struct fst_error *error)
{
        struct shuffle_output *o = w->output;
        return o->stream ? shuffle_output_drain(o, w->op.run->task.stopped, freed, error)
                         : shuffle_output_to_disk(o, &w->store->space, freed, error);
}

/*
 * Moves everything out of memory: 0, or negative after task_run_fail. @open and @used: bytes of the open pages, and of
 * their rows.
 */
static int spill_all(struct shuffle_writer *w, size_t *open, size_t *used, size_t *freed)
{
        struct fst_error error = FST_ERROR_INIT;
        *open = *used = *freed = 0;
        for (uint32_t p = 0; p < (uint32_t)w->output->partitions; p++) {
                if (w->open[p]) {
                        *open += w->open[p]->block;
                        *used += w->open[p]->used;
                }
                shuffle_writer_close_page(w, p);
        }
        int r = shuffle_writer_empty(w, freed, &error);
        size_t keep = MIN(*freed, SET_ASIDE - w->aside);
        w->aside += keep;
        memory_release(&w->memory, *freed - keep);
        if (!w->output->stream)
                w->op.run->counters.memory_spilled += (int64_t)*freed;
        return r ? task_run_fail_with(w->op.run, r, &error) : 0;
}

static int shuffle_writer_drain(struct shuffle_writer *w);

/* Moves pages to disk, and the combined rows unless the combining itself needs the memory. */
static int shuffle_writer_spill_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        struct shuffle_writer *w = container_of(consumer, struct shuffle_writer, memory);
        size_t open, used, freed;
        int r = spill_all(w, &open, &used, &freed);
        if (r || !w->combining || w->adding)
                return r;
        if ((r = shuffle_writer_drain(w)) || (r = spill_all(w, &open, &used, &freed)))
                return r;
        aggregate_shrink(w->aggregate);
        return 0;
}

/* Memory has run out: moves everything to disk and chooses the size of the next pages. */
static int shuffle_writer_make_room(struct shuffle_writer *w)
{
        size_t open, used, freed;
        int r = spill_all(w, &open, &used, &freed);
        if (used < open / 4 && open > freed / 2)
                w->block = MAX(w->block / 4, LEAST_BLOCK);
        else if (open < freed / 16)
                w->block = MIN(w->block * 4, PAGE_BLOCK);
        return r;
}

/* Gets a page for a record of @record bytes from the manager, else from the reserve. Returns as page_new. */
static int new_page(struct shuffle_writer *w, size_t record, struct page **page)
{
        bool small = w->block < PAGE_BLOCK && record <= w->block - sizeof(struct page);
        size_t block = small ? w->block : page_block_size(record);
        int r = small ? page_new_small(&w->memory, w->op.type, block, page)
                      : page_new(&w->memory, w->op.type, record, page);
        if (r != FST_MEMORY_E_DENIED || block > w->aside)
                return r;
        r = small ? page_new_small(NULL, w->op.type, block, page) : page_new(NULL, w->op.type, record, page);
        if (r == 0)
                w->aside -= block;
        return r;
}

/* Callback of page_scatter: makes room in a partition's page. */
static int need_page(void *owner, uint32_t partition, size_t record, struct page **open)
{
        struct shuffle_writer *w = owner;
        shuffle_writer_close_page(w, partition);
        int r = w->doomed ? FST_MEMORY_E_DENIED : new_page(w, record, open); /* emptying reports the failure */
        if (r == FST_MEMORY_E_DENIED) {
                r = shuffle_writer_make_room(w);
                if (r)
                        return r;
                r = new_page(w, record, open);
        }
        if (r)
                return task_run_fail(w->op.run, r < 0 ? r : -ENOMEM,
                                     "no memory for a shuffle record of %zu bytes: raise spark.driver.memory or "
                                     "spark.executor.memory, or run fewer tasks at a time",
                                     record);
        return 0;
}

/* Appends the rows from @first on, whose partitions are known, to pages. */
static int shuffle_writer_scatter(struct shuffle_writer *w, const fst_batch *batch, uint32_t first)
{
        return page_scatter(batch, w->places, &first, w->open, (uint32_t)w->output->partitions, need_page,
                            w); /* need_page reports the error */
}

/* Callback of bucket_scatter: replaces a partition's page. */
static int need_bucket_page(void *owner, uint32_t partition, struct page **open)
{
        int r = need_page(owner, partition, PAGE_CAPACITY, open);
        if (r == 0)
                bucket_page_init(*open);
        return r;
}

/* Appends rows with w->hashes to pages. */
static int shuffle_writer_scatter_hashed(struct shuffle_writer *w, const fst_batch *batch)
{
        if (w->scatter)
                return bucket_scatter_rows(w->scatter, batch, w->hashes, w->open, need_bucket_page, w);
        partitioner_place_hashes(w->partitioner, w->hashes, batch->rows, w->places);
        return shuffle_writer_scatter(w, batch, 0);
}

/* Appends the rows from @first on to pages. */
static int shuffle_writer_add_rows(struct shuffle_writer *w, const fst_batch *batch, uint32_t first)
{
        if (w->scatter) {
                fst_batch rest = *batch; /* pairs of numbers */
                rest.rows -= first;
                rest.key.i64 += first;
                rest.value.i64 += first;
                hash_keys(&rest, w->hashes);
                return shuffle_writer_scatter_hashed(w, &rest);
        }
        int r = row_placer_place(&w->placing, batch, w->places);
        return r ? r : shuffle_writer_scatter(w, batch, first);
}

/* From the first row on that bypasses the table, numbers are scattered by bucket, unless there are pages of records. */
static void shuffle_writer_start_buckets(struct shuffle_writer *w)
{
        const int partitions = w->output->partitions;
        const size_t size = bucket_scatter_size(partitions);
        if (w->scatter || w->output->n_extents || w->output->pages || !bucket_page_takes(w->op.type) ||
            !bucket_bits(partitions))
                return;
        for (int p = 0; p < partitions; p++)
                if (w->open[p])
                        return;
        if (memory_acquire(&w->memory, size))
                return;
        w->scatter = bucket_scatter_new(partitions);
        if (!w->scatter)
                memory_release(&w->memory, size);
        else
                w->output->bucket_bits = bucket_bits(partitions);
}

static void shuffle_writer_end_buckets(struct shuffle_writer *w)
{
        if (w->scatter)
                memory_release(&w->memory, bucket_scatter_size(w->output->partitions));
        bucket_scatter_free(steal(w->scatter));
}

/* ------------------------------------------------------------------------------------------------- combining */

static int start_combining(struct shuffle_writer *w)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = aggregate_start(w->aggregate,
                                &(struct aggregate_options){.side = AGGREGATE_MAP,
                                                            .memory = task_run_memory(w->op.run),
                                                            .type = w->op.type,
                                                            .combine = w->shuffled->fn,
                                                            .values = w->shuffled->values,
                                                            .task = &w->op.run->task,
                                                            .keep_keys = true,
                                                            .out = w->emitted ? &w->emitted->out : NULL,
                                                            .out_reset = combine_out_reset},
                                &error);
        w->combining = r == 0;
        w->may_bypass = w->may_bypass && !(w->combining && aggregate_has_kept_keys(w->aggregate));
        if (r == -ENOMEM && !w->shuffled->values) { /* rows can bypass the table */
                error_deinit(&error);
                return 0;
        }
        return r ? task_run_fail_with(w->op.run, r, &error) : 0;
}

/* Moves the combined rows to pages. */
static int shuffle_writer_drain(struct shuffle_writer *w)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_batch batch;
        int r;
        while ((r = aggregate_next(w->aggregate, &batch, w->hashes, &error)) == 0 && batch.rows > 0) {
                if (w->sampling)
                        key_sample_add(w->sample, w->hashes, batch.rows);
                r = shuffle_writer_scatter_hashed(w, &batch);
                if (r)
                        return r;
        }
        return r ? task_run_fail_with(w->op.run, r, &error) : 0;
}

/* Moves the values of keys that this output shares with others to pages without these keys. What does not fit into
 * memory stays in the table. */
static void shuffle_writer_share(struct shuffle_writer *w)
{
        struct page_keys *keys =
                w->sample ? aggregate_share_keys(w->aggregate, w->partitioner, w->output->manager) : NULL;
        for (uint32_t p = 0; keys && p < keys->parts; p++) {
                struct page *page;
                if (page_new_values(&w->memory, w->op.type, keys, p, &page) != 0)
                        return;
                aggregate_take_values(w->aggregate, p, page);
                if (page->rows)
                        shuffle_output_add(w->output, p, page);
                else
                        page_free(&w->memory, page);
        }
}

/* Ends combining: moves the combined rows and the rows from @first on to pages. */
static int stop_combining(struct shuffle_writer *w, const fst_batch *batch, uint32_t first)
{
        int r = shuffle_writer_drain(w);
        aggregate_reset(w->aggregate);
        w->combining = false;
        return r || first >= batch->rows ? r : shuffle_writer_add_rows(w, batch, first);
}

/*
 * True if combining saves less than a third of the first rows, and rows may bypass the table for that. If the keys are
 * random, fewer rows tell how many keys there are: n rows of k keys have n * n / 2k repeated ones. 1/16 of 2^14 rows
 * are of 2^17 keys, of which 2^17 rows would repeat more than a third. Without repeated rows they may come in order.
 */
static bool shuffle_writer_should_bypass(const struct shuffle_writer *w)
{
        if (!w->may_bypass)
                return false;
        const struct aggregate_stats stats = aggregate_stats(w->aggregate);
        const uint64_t repeated = stats.rows_in - stats.keys;
        if (stats.rows_in >= FIRST_ROWS)
                return repeated * 3 < stats.rows_in;
        return stats.rows_in >= FEW_ROWS && stats.rows_in < FEW_ROWS + FST_BATCH_ROWS && repeated >= MIN_REPEATED &&
               repeated * 16 < stats.rows_in;
}

static int shuffle_writer_start_bypass(struct shuffle_writer *w, const fst_batch *batch)
{
        key_sample_start(w->sample, SAMPLE_ZEROS);
        w->seen = aggregate_stats(w->aggregate).rows_in;
        w->sampling = true;
        w->may_bypass = false;
        shuffle_writer_start_buckets(w);
        return stop_combining(w, batch, batch->rows);
}

/* Moves rows to pages past the table, and combines the next ones if keys repeat by now. */
static int shuffle_writer_bypass(struct shuffle_writer *w, const fst_batch *batch)
{
        hash_keys(batch, w->hashes);
        key_sample_add(w->sample, w->hashes, batch->rows);
        int r = shuffle_writer_scatter_hashed(w, batch);
        w->seen += batch->rows;
        if (r || key_sample_estimate(w->sample) > w->seen / 2)
                return r;
        w->sampling = false;
        return start_combining(w);
}

/* Combines @pieces unless that is NULL, otherwise @batch. *@done: how many of them; the others were moved to pages if
 * they are rows of @batch. */
static int shuffle_writer_combine(struct shuffle_writer *w, const fst_batch *batch, const struct piece_ends *pieces,
                                  uint32_t *done)
{
        struct task_run *run = w->op.run;
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        int r;
        const struct aggregate_values *values = w->shuffled->values;
        const char *outer = task_run_enter(run, values ? values->merge.name : w->shuffled->fn.name);
        w->adding = true;
        while ((r = pieces ? aggregate_add_pieces(w->aggregate, pieces, &at, &error)
                           : aggregate_add(w->aggregate, batch, &at, &error)) == FST_AGGREGATE_E_FULL)
                if ((r = shuffle_writer_drain(w)))
                        break;
        w->adding = false;
        *done = at;
        task_run_leave(run, outer);
        if (r == -ENOMEM && !run->status && !values) { /* not even an empty table has room for a row */
                error_deinit(&error);
                return stop_combining(w, batch, at);
        }
        if (r)
                return task_run_fail_with(run, r, &error);
        if (shuffle_writer_should_bypass(w))
                return shuffle_writer_start_bypass(w, batch);
        if (aggregate_reduces(w->aggregate) && !w->sparse)
                return 0;
        if (!values)
                return stop_combining(w, batch, batch->rows);
        r = shuffle_writer_drain(w);
        if (r == 0 && !w->sparse)
                aggregate_shrink(w->aggregate);
        w->sparse = true;
        return r;
}

/* ------------------------------------------------------------------------------------------------ the operator */

static int writer_begin(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        w->output = shuffle_output_new(w->partitioner->partitions, op->type, op->run->memory_manager);
        memory_consumer_init(&w->memory, task_run_memory(op->run), "shuffle write", shuffle_writer_spill_for_others);
        row_placer_begin(&w->placing, w->partitioner, op->run, op->run->task.info.partition);
        if (w->skewed)
                skewed_placer_begin(w->skewed, w->partitioner, op->run->task.info.partition);
        w->started = true;
        w->complete = w->sparse = w->combining = w->doomed = w->sampling = false;
        w->may_bypass = w->sample && memory_manager_pool(op->run->memory_manager) >= MIN_POOL_TO_BYPASS;
        w->aside = 0;
        if (w->remote) {
                const struct fst_task_info *task = &op->run->task.info;
                const struct remote_output output = {
                        .map_partition = task->partition, .task_id = task->id, .output = w->output, .place = w->place};
                w->output->stream = w->remote->class->stream(w->remote, w->shuffled->shuffle.id, &output);
        }
        int r = memory_acquire(&w->memory, SET_ASIDE);
        w->aside = r == 0 ? SET_ASIDE : 0;
        if (r >= 0 && !w->aggregate)
                return 0;
        return r < 0 ? task_run_fail(op->run, r, "no memory to start writing a shuffle") : start_combining(w);
}

/* Some rows go to several partitions. */
static int shuffle_writer_add_skewed(struct shuffle_writer *w, const fst_batch *batch)
{
        fst_batch copies;
        skewed_placer_place(w->skewed, batch, w->places);
        int r = shuffle_writer_scatter(w, batch, 0);
        while (r == 0 && skewed_placer_next_copies(w->skewed, &copies, w->places))
                r = shuffle_writer_scatter(w, &copies, 0);
        return r;
}

static int writer_consume(struct op *op, const struct rows *in)
{
        struct shuffle_writer *w = writer_of(op);
        fault_point(FAULT_MAP);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        uint32_t done;
        if (w->combining)
                return shuffle_writer_combine(w, &in->batch, NULL, &done);
        if (w->sampling)
                return shuffle_writer_bypass(w, &in->batch);
        if (w->skewed)
                return shuffle_writer_add_skewed(w, &in->batch);
        return shuffle_writer_add_rows(w, &in->batch, 0);
}

/* Only a table takes pieces; the others come as rows. */
static int writer_consume_pieces(struct op *op, const struct piece_ends *pieces, uint32_t *done)
{
        static const fst_batch none = {0};
        struct shuffle_writer *w = writer_of(op);
        *done = 0;
        if (!w->combining || w->shuffled->values)
                return 0;
        fault_point(FAULT_MAP);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        return shuffle_writer_combine(w, &none, pieces, done);
}

/*
 * Reserves storage for the output. Older outputs make room: they may have been read already, and if not, it costs the
 * same to write one as the other.
 */
static bool shuffle_writer_acquire_storage(struct shuffle_writer *w, size_t size)
{
        struct memory_manager *m = w->output->manager;
        if (memory_acquire_fixed_storage(m, size))
                return true;
        return !w->output->stream && memory_may_fix_storage(m) && shuffle_store_evict(w->store, size) >= size &&
               memory_acquire_fixed_storage(m, size);
}

/*
 * Makes the pages storage. If there is no room, or some are on disk already, all go to disk: an output is in one place.
 * Those of a stream leave memory when they are stored outside.
 */
static int store_output(struct shuffle_writer *w, struct fst_error *error)
{
        struct shuffle_output *o = w->output;
        memory_release(&w->memory, w->aside);
        w->aside = 0;
        size_t held = w->memory.held, freed = 0;
        memory_release(&w->memory, held);
        if (!o->file && shuffle_writer_acquire_storage(w, held)) {
                o->memory = held;
                shuffle_store_enlist(w->store, o);
                return 0;
        }
        int r = shuffle_writer_empty(w, &freed, error);
        return r ? r : shuffle_output_finish(o, error);
}

/* Shrinks the open pages, which are complete now, to their content. */
static void close_open_pages(struct shuffle_writer *w)
{
        size_t saved = 0;
        for (uint32_t p = 0; p < (uint32_t)w->output->partitions; p++) {
                if (!w->open[p])
                        continue;
                size_t before = w->open[p]->block;
                w->open[p] = page_shrink(w->open[p]);
                saved += before - w->open[p]->block;
                shuffle_writer_close_page(w, p);
        }
        memory_release(&w->memory, saved);
}

static int writer_end(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        struct fst_error error = FST_ERROR_INIT;
        int r = 0;
        if (w->combining) {
                aggregate_keep_keys(w->aggregate);
                w->adding = true;
                shuffle_writer_share(w);
                w->adding = false;
                r = shuffle_writer_drain(w);
        }
        if (r == 0 && w->scatter)
                r = bucket_scatter_flush(w->scatter, w->open, need_bucket_page, w);
        if (r)
                return r;
        shuffle_writer_end_buckets(w);
        close_open_pages(w);
        if (w->output->stream)
                w->output->stream->class->flush(w->output->stream);
        shuffle_output_pack(w->output);
        r = store_output(w, &error);
        if (r)
                return task_run_fail_with(op->run, r, &error);
        if (w->aggregate)
                aggregate_reset(w->aggregate);
        memory_consumer_deinit(&w->memory);
        op->run->counters.shuffle_write_bytes += (int64_t)w->output->bytes;
        op->run->counters.shuffle_write_records += (int64_t)w->output->rows;
        w->started = false;
        w->complete = true;
        fault_point(FAULT_MAP);
        return 0;
}

static void writer_abandon(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        if (w->started) {
                if (w->aggregate)
                        aggregate_reset(w->aggregate);
                for (uint32_t p = 0; p < (uint32_t)w->output->partitions; p++)
                        page_free(&w->memory, steal(w->open[p]));
                shuffle_writer_end_buckets(w);
                memory_consumer_deinit(&w->memory);
        }
        w->started = w->complete = false;
        shuffle_output_unref(steal(w->output));
}

static void shuffle_writer_free(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        writer_abandon(op);
        aggregate_free(w->aggregate);
        op_free(w->emitted);
        free(w->sample);
        if (w->skewed)
                skewed_placer_deinit(w->skewed);
        free(w->skewed);
        free(w->open);
        op_deinit(op);
        free(w);
}

static const struct op_class writer_class = {
        "shuffle",
        .begin = writer_begin,
        .consume = writer_consume,
        .consume_pieces = writer_consume_pieces,
        .end = writer_end,
        .abandon = writer_abandon,
        .free = shuffle_writer_free,
};

struct op *shuffle_writer_new(struct task_run *run, const fst_rdd *shuffled, struct shuffle_store *store)
{
        struct shuffle_writer *w = new0(struct shuffle_writer);
        op_init(&w->op, &writer_class, run, shuffled->type);
        w->shuffled = shuffled;
        w->partitioner = &shuffled->shuffle.partitioner;
        w->store = store;
        w->block = PAGE_BLOCK;
        w->open = new_array(struct page *, (size_t)w->partitioner->partitions);
        if (w->partitioner->kind == PARTITIONER_SKEWED)
                w->skewed = new0(struct skewed_placer);
        if (shuffled->shuffle.combine) {
                w->aggregate = aggregate_new();
                w->emitted = combine_out_for(run, shuffled->type, shuffled->values, &shuffled->fn);
        }
        return &w->op;
}

void shuffle_writer_stream_to(struct op *op, struct remote_shuffle *remote, uint32_t place)
{
        struct shuffle_writer *w = writer_of(op);
        w->remote = remote && remote->class->stream ? remote : NULL;
        w->place = place;
}

void shuffle_writer_stay_local(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        if (w->aggregate && !w->shuffled->values && !w->sample)
                w->sample = new0(struct key_sample);
}

struct shuffle_output *shuffle_writer_take(struct op *op)
{
        struct shuffle_writer *w = writer_of(op);
        return w->complete ? steal(w->output) : NULL;
}
