/*
 * Hash aggregation (rdd/aggregate/aggregate.h): a combining table, and the strategy when it cannot grow.
 *
 * After a shuffle, a table that cannot grow is written out in TABLE_BUCKETS runs, one for each bucket of its keys
 * (rdd/aggregate/combine_table.h), and starts empty. Keys that come again are combined when their bucket is read. At
 * the end each bucket is aggregated separately, by a table with another seed, and written out in smaller buckets if it
 * does not fit either. So each key comes out once with any amount of memory. Spark's ExternalAppendOnlyMap sorts by
 * hash and merges instead, with the same result.
 *
 * Computes the same as Spark's reduceByKey. Differs on purpose for F64 keys: -0.0 and 0.0 are one key (as in Spark
 * SQL's grouping), while the JVM's Double.equals distinguishes them. NaNs are one key in both.
 *
 * Invariants: the table's seed is that of `level`. Runs in `into` hold rows of this level's input only. Two pages are
 * reserved while spilling is possible: one to gather rows and one to read them. If upstream operators hold all of the
 * task's memory, rows with bytes of their own go through one unreserved page.
 */
#include "rdd/aggregate/aggregate.h"

#include "base/error.h"
#include "base/vec.h"
#include "rdd/pipeline/columns.h"
#include "rdd/aggregate/combine_table.h"
#include "rdd/aggregate/table_sharing.h"
#include "rdd/sort/spill_run_writer.h"

#define ENOUGH_ROWS 400000 /* needed to judge whether keys repeat */
#define MAX_HINT ((size_t)1 << 20)
#define SET_ASIDE (2 * PAGE_BLOCK)
#define MAX_LEVEL 8 /* the 32 bits of the hash distinguish no more buckets */

enum aggregate_state { AGGREGATE_IDLE, AGGREGATE_ADDING, AGGREGATE_READING };

struct bucket {
        uint32_t level; /* of the table that aggregates it */
        VEC(struct spill_run) runs;
};

struct aggregate {
        struct memory_consumer memory;
        struct combine_table table;
        struct aggregate_options options;
        enum aggregate_state state;
        bool busy;  /* during a call: do not free memory for other consumers */
        bool keep;  /* the keys stay when the table is read */
        size_t pos; /* position in the table, while reading */
        struct columns columns;

        struct spill_run_writer writer;
        uint32_t level;
        bool spilled;                      /* at this level */
        struct bucket into[TABLE_BUCKETS]; /* the runs written by this level's table */
        VEC(struct bucket) waiting;        /* buckets to aggregate; the next one is last */

        struct aggregate_stats stats;
};

/* Constants without a common pattern: tables that read each other's rows must have different orders. */
static uint32_t aggregate_table_seed(enum aggregate_side side, uint32_t level)
{
        return (uint32_t)(key_mix((uint64_t)side + level + 1) >> 17) | 1;
}

/* ----------------------------------------------------------------------------------------- begin and end */

struct aggregate *aggregate_new(void)
{
        return new0(struct aggregate);
}

void aggregate_free(struct aggregate *a)
{
        if (!a)
                return;
        int saved = errno;
        aggregate_reset(a);
        table_free(&a->table);
        columns_deinit(&a->columns);
        vec_deinit(&a->waiting);
        free(a);
        errno = saved;
}

void aggregate_reset(struct aggregate *a)
{
        if (a->state == AGGREGATE_IDLE)
                return;
        for (size_t i = 0; i < TABLE_BUCKETS; i++)
                vec_deinit(&a->into[i].runs);
        for (size_t i = 0; i < a->waiting.len; i++)
                vec_deinit(&a->waiting.data[i].runs);
        a->waiting.len = 0;
        spill_run_writer_deinit(&a->writer);
        table_release(&a->table);
        memory_consumer_deinit(&a->memory);
        a->state = AGGREGATE_IDLE;
}

static int aggregate_no_memory(struct fst_error *error, const char *what)
{
        return error_set(error, -ENOMEM,
                         "%s; raise spark.executor.memory (spark.driver.memory in local mode) or run fewer tasks at a "
                         "time",
                         what);
}

static int aggregate_spill_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error);
static int aggregate_shrink_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error);

int aggregate_start(struct aggregate *a, const struct aggregate_options *options, struct fst_error *error)
{
        aggregate_reset(a);
        int r = table_init(&a->table, options, &a->memory, error);
        if (r)
                return r;
        a->options = *options;
        if (options->side == AGGREGATE_MAP)
                a->options.spill = NULL;
        a->stats = (struct aggregate_stats){0};
        a->level = 0;
        a->spilled = a->busy = a->keep = false;
        a->pos = 0;
        a->table.seed = aggregate_table_seed(options->side, 0);
        a->table.may_overdraw =
                a->options.spill != NULL || options->values; /* rows with other values cannot bypass the table */
        memory_consumer_init(&a->memory, options->memory, "hash aggregate",
                             a->options.spill ? aggregate_spill_for_others : aggregate_shrink_for_others);
        r = a->options.spill ? memory_acquire(&a->memory, SET_ASIDE) : 0;
        if (!r)
                r = table_start(&a->table, MIN(options->expected_keys, MAX_HINT));
        if (r) {
                memory_consumer_deinit(&a->memory);
                return r < 0 ? r
                             : aggregate_no_memory(error, "no memory for the smallest hash table of an aggregation");
        }
        columns_start(&a->columns, options->type);
        a->state = AGGREGATE_ADDING;
        return 0;
}

bool aggregate_reduces(const struct aggregate *a)
{
        uint64_t rows = a->table.rows_in;
        return rows < ENOUGH_ROWS || a->table.keys <= rows / 10 * 9;
}

struct aggregate_stats aggregate_stats(const struct aggregate *a)
{
        struct aggregate_stats stats = a->stats;
        stats.rows_in = a->table.rows_in;
        stats.keys = a->table.keys;
        return stats;
}

/* ------------------------------------------------------------------------------------------------ spilling */

static int aggregate_write_bucket(struct aggregate *a, uint32_t number, struct fst_error *error)
{
        struct spill_run run;
        size_t pos = 0;
        int r = spill_run_writer_begin(&a->writer, a->options.spill, a->options.type, &run, error);
        while (!r) {
                fst_batch batch = columns_batch(&a->columns, a->options.type);
                if (table_read_bucket(&a->table, number, &pos, a->columns.room, &batch) == 0)
                        break;
                r = spill_run_writer_rows(&a->writer, &batch, error);
        }
        if (!r)
                r = spill_run_writer_end(&a->writer, &run, error);
        if (r)
                return r;
        if (run.end > run.start)
                vec_push(&a->into[number].runs, run);
        a->stats.spilled_bytes += run.end - run.start;
        return 0;
}

/* Writes the table out, bucket by bucket. It is empty afterwards. */
static int aggregate_spill_table(struct aggregate *a, struct fst_error *error)
{
        if (a->level == MAX_LEVEL)
                return aggregate_no_memory(error, "too many keys with the same hash for the memory of this task");
        for (uint32_t i = 0; i < TABLE_BUCKETS; i++) {
                int r = aggregate_write_bucket(a, i, error);
                if (r)
                        return r;
        }
        a->stats.spills++;
        a->spilled = true;
        table_clear(&a->table);
        return 0;
}

static int aggregate_spill_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        struct aggregate *a = container_of(consumer, struct aggregate, memory);
        if (a->state != AGGREGATE_ADDING || a->busy || table_is_empty(&a->table))
                return 0;
        int r = aggregate_spill_table(a, error);
        if (!r)
                table_shrink(&a->table);
        return r;
}

/* Without files, only the empty slots of an earlier task can be freed. */
static int aggregate_shrink_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        aggregate_shrink(container_of(consumer, struct aggregate, memory));
        return 0;
}

void aggregate_shrink(struct aggregate *a)
{
        if (a->state == AGGREGATE_ADDING && !a->busy && table_is_empty(&a->table))
                table_shrink(&a->table);
}

void aggregate_keep_keys(struct aggregate *a)
{
        a->keep = a->table.is_positive;
}

struct page_keys *aggregate_share_keys(struct aggregate *a, const struct partitioner *partitioner,
                                       struct memory_manager *manager)
{
        return a->keep ? table_share(&a->table, partitioner, manager) : NULL;
}

void aggregate_take_values(struct aggregate *a, uint32_t part, struct page *page)
{
        table_take_values(&a->table, part, page);
}

bool aggregate_has_kept_keys(const struct aggregate *a)
{
        return a->table.kept > 0;
}

/* Ends a level whose input did not fit into the table: its buckets wait for aggregation. */
static int aggregate_end_level(struct aggregate *a, struct fst_error *error)
{
        int r = a->table.count ? aggregate_spill_table(a, error) : 0;
        if (r)
                return r;
        for (uint32_t i = TABLE_BUCKETS; i-- > 0;) {
                struct bucket *bucket = &a->into[i];
                if (bucket->runs.len == 0)
                        continue;
                bucket->level = a->level + 1;
                vec_push(&a->waiting, *bucket);
                *bucket = (struct bucket){0};
        }
        a->spilled = false;
        return 0;
}

/* ------------------------------------------------------------------------------------------------- adding */

static int aggregate_add_rows(struct aggregate *a, enum table_input input, const fst_batch *batch, uint32_t *at,
                              struct fst_error *error)
{
        for (;;) {
                int r = table_add(&a->table, input, batch, at, error);
                if (r <= 0)
                        return r;
                if (a->table.count == 0)
                        return aggregate_no_memory(error, "a row is too large for the memory of this task");
                if (!a->options.spill)
                        return FST_AGGREGATE_E_FULL;
                r = aggregate_spill_table(a, error);
                if (r)
                        return r;
        }
}

int aggregate_add(struct aggregate *a, const fst_batch *batch, uint32_t *at, struct fst_error *error)
{
        a->busy = true;
        int r = aggregate_add_rows(a, TABLE_VALUES, batch, at, error);
        a->busy = false;
        return r;
}

int aggregate_add_pieces(struct aggregate *a, const struct piece_ends *pieces, uint32_t *at, struct fst_error *error)
{
        a->busy = true;
        int r = table_add_pieces(&a->table, pieces, at, error);
        a->busy = false;
        if (r <= 0)
                return r;
        return a->table.count ? FST_AGGREGATE_E_FULL
                              : aggregate_no_memory(error, "a row is too large for the memory of this task");
}

static int aggregate_add_page(struct aggregate *a, struct page_cursor *cursor, const struct page *page,
                              struct fst_error *error)
{
        fst_batch batch;
        page_cursor_start(cursor, page);
        while (page_cursor_next(cursor, &batch)) {
                uint32_t at = 0;
                int r = aggregate_add_rows(a, TABLE_ACCUMULATORS, &batch, &at, error);
                if (r)
                        return r;
        }
        return 0;
}

static int bucket_add_run(struct aggregate *a, struct page_cursor *cursor, const struct spill_run *run,
                          struct fst_error *error)
{
        struct spill_reader reader;
        struct page *page;
        int r = spill_reader_init(&reader, a->writer.spill, run->start, run->end, NULL, error);
        if (r)
                return r;
        while ((r = spill_reader_next(&reader, NULL, &page, error)) == 0 && page) {
                r = aggregate_add_page(a, cursor, page, error);
                page_free(NULL, page);
                if (r)
                        break;
        }
        spill_reader_deinit(&reader);
        return r;
}

/* Aggregates the next waiting bucket, or replaces it by its parts. The counters count input rows once. */
static int aggregate_next_bucket(struct aggregate *a, struct fst_error *error)
{
        struct bucket bucket = a->waiting.data[--a->waiting.len];
        struct page_cursor cursor;
        uint64_t rows_in = a->table.rows_in, keys = a->table.keys;
        int r = 0;
        a->level = bucket.level;
        a->table.seed = aggregate_table_seed(a->options.side, a->level);
        page_cursor_init(&cursor, a->options.type);
        for (size_t i = 0; i < bucket.runs.len && !r; i++)
                r = bucket_add_run(a, &cursor, &bucket.runs.data[i], error);
        page_cursor_deinit(&cursor);
        vec_deinit(&bucket.runs);
        a->table.rows_in = rows_in;
        a->table.keys = keys;
        if (!r && a->spilled)
                r = aggregate_end_level(a, error);
        return r;
}

/* ------------------------------------------------------------------------------------------------- reading */

static int aggregate_read_rows(struct aggregate *a, fst_batch *batch, uint64_t *hashes, struct fst_error *error)
{
        int r = a->state == AGGREGATE_ADDING && a->spilled ? aggregate_end_level(a, error) : 0;
        if (r)
                return r;
        a->state = AGGREGATE_READING;
        for (;;) {
                if (table_read(&a->table, &a->pos, a->columns.room, batch, hashes, a->keep) > 0)
                        return 0;
                if (a->keep)
                        table_keep(&a->table);
                else
                        table_clear(&a->table);
                a->pos = 0;
                if (a->waiting.len == 0)
                        break;
                r = aggregate_next_bucket(a, error);
                if (r)
                        return r;
        }
        a->level = 0;
        a->table.seed = aggregate_table_seed(a->options.side, 0);
        a->state = AGGREGATE_ADDING;
        return 0;
}

int aggregate_next(struct aggregate *a, fst_batch *batch, uint64_t *hashes, struct fst_error *error)
{
        *batch = columns_batch(&a->columns, a->options.type);
        a->busy = true;
        int r = aggregate_read_rows(a, batch, hashes, error);
        a->busy = false;
        return r;
}
