/*
 * Hash aggregation (rdd/aggregate.h): a combining table and what is done when it may not grow.
 *
 * Matches Spark's reduceByKey in what it computes. F64 keys differ on purpose: -0.0 and 0.0 are one key here (as
 * in Spark SQL's grouping), where the JVM's Double.equals keeps them apart; NaNs are one key in both.
 */
#include "rdd/aggregate.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/combine_table.h"
#include "rdd/hash.h"

#define ENOUGH_ROWS 100000 /* to judge whether keys repeat */
#define HINT_MOST ((size_t)1 << 20)
#define COLUMN_BYTES ((size_t)256 << 10) /* of a column that holds FIXED rows of any size */

struct aggregate {
        struct memory_consumer memory;
        struct combine_table table;
        struct aggregate_options options;
        bool started;
        bool reading; /* between the first aggregate_next and the end */
        size_t pos;   /* of the table, while reading */

        fst_column key, value; /* what aggregate_next answers with */
        size_t key_bytes, value_bytes;
        uint32_t room; /* rows that fit the columns */

        struct aggregate_stats stats;
};

/* Constants without a pattern in common: tables that read each other's rows must not agree on an order. */
static uint32_t seed_of(uint32_t stage)
{
        return (uint32_t)(key_mix(stage + 1, 0xd1342543de82ef95u) >> 17) | 1;
}

struct aggregate *aggregate_new(void)
{
        return new0(struct aggregate);
}

void aggregate_free(struct aggregate *a)
{
        if (!a)
                return;
        aggregate_reset(a);
        table_free(&a->table);
        free(a->key.fixed);
        free(a->value.fixed);
        free(a);
}

static void column_ready(fst_column *column, size_t *held, size_t bytes)
{
        if (*held >= bytes)
                return;
        free(column->fixed);
        column->fixed = mem_alloc(bytes);
        *held = bytes;
}

static size_t cell_size(uint8_t kind, uint32_t size)
{
        return kind == FST_KIND_BYTES ? sizeof(fst_bytes) : kind == FST_KIND_NONE ? 0 : MAX(size, 1u);
}

static void columns_ready(struct aggregate *a)
{
        size_t key = cell_size(a->options.type.key, a->options.type.key_size);
        size_t value = cell_size(a->options.type.value, a->options.type.value_size);
        size_t room = MAX(COLUMN_BYTES / MAX(key, value), (size_t)1);
        a->room = (uint32_t)MIN(room, (size_t)FST_BATCH_ROWS);
        column_ready(&a->key, &a->key_bytes, key * a->room);
        column_ready(&a->value, &a->value_bytes, value * a->room);
}

int aggregate_start(struct aggregate *a, const struct aggregate_options *options, struct fst_error *error)
{
        aggregate_reset(a);
        int r = table_init(&a->table, options, &a->memory, error);
        if (r)
                return r;
        a->options = *options;
        a->stats = (struct aggregate_stats){0};
        memory_consumer_init(&a->memory, options->memory, "hash aggregate", NULL);
        a->table.seed = seed_of(options->side);
        r = table_start(&a->table, MIN(options->expected_keys, HINT_MOST));
        if (r) {
                memory_consumer_deinit(&a->memory);
                return r < 0 ? r
                             : error_set(error, -ENOMEM,
                                         "no memory for the smallest hash table of an aggregation; "
                                         "raise spark.executor.memory (spark.driver.memory in "
                                         "local mode) or run fewer tasks at a time");
        }
        columns_ready(a);
        a->started = true;
        return 0;
}

/* What was read is no longer looked at: an empty table again. */
static void end_reading(struct aggregate *a)
{
        table_clear(&a->table);
        a->reading = false;
        a->pos = 0;
}

int aggregate_add(struct aggregate *a, const fst_batch *batch, uint32_t *at, struct fst_error *error)
{
        if (a->reading)
                end_reading(a);
        int r = table_add(&a->table, batch, at, error);
        if (r <= 0)
                return r;
        if (a->table.count == 0)
                return error_set(error, -ENOMEM,
                                 "one row is too large for the memory that this task may use; raise "
                                 "spark.executor.memory (spark.driver.memory in local mode)");
        return FST_AGGREGATE_E_FULL;
}

int aggregate_next(struct aggregate *a, fst_batch *batch, uint64_t *hashes, struct fst_error *error)
{
        *batch = (fst_batch){.type = a->options.type, .key = a->key, .value = a->value};
        a->reading = true;
        if (table_read(&a->table, &a->pos, a->room, batch, hashes, true) == 0)
                end_reading(a);
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

void aggregate_reset(struct aggregate *a)
{
        if (!a->started)
                return;
        a->reading = false;
        a->pos = 0;
        table_release(&a->table);
        memory_consumer_deinit(&a->memory);
        a->started = false;
}
