/* See join_rows.h. */
#include "rdd/cogroup/join_rows.h"

#include "rdd/aggregate/hash.h"
#include "rdd/partitioner.h"
#include "rdd/pipeline/key.h"

enum join_key join_key_of(fst_type type)
{
        return type.key == FST_KIND_I64 ? JOIN_KEY_I64 : type.key == FST_KIND_F64 ? JOIN_KEY_F64 : JOIN_KEY_BYTES;
}

struct join_rows join_rows_of_batch(const fst_batch *batch, struct sort_entry *entries)
{
        const uint32_t n = batch->rows;
        if (batch->type.key == FST_KIND_I64) {
                for (uint32_t i = 0; i < n; i++)
                        entries[i].prefix = record_i64_prefix(batch->key.i64[i]);
        } else if (batch->type.key == FST_KIND_F64) {
                for (uint32_t i = 0; i < n; i++)
                        entries[i].prefix = record_f64_prefix(batch->key.f64[i]);
        } else {
                uint64_t hashes[FST_BATCH_ROWS];
                hash_keys(batch, hashes);
                for (uint32_t i = 0; i < n; i++)
                        entries[i].prefix = hashes[i];
        }
        return (struct join_rows){entries, n, batch->type, batch};
}

fst_bytes join_rows_key(const struct join_rows *rows, uint32_t row)
{
        if (rows->batch)
                return key_view(rows->type, rows->batch->key, row);
        struct record_view r = record_read(rows->type, rows->entries[row].record);
        return (fst_bytes){(const char *)r.key, r.key_len};
}

/* The column of @n values of @size bytes that are in the entries themselves. */
static void gather_whole_values(const struct sort_entry *entries, const uint32_t *at, uint32_t n, size_t size,
                                fst_column column)
{
        if (size == sizeof(entries->value))
                for (uint32_t i = 0; i < n; i++)
                        column.i64[i] = (int64_t)entries[at[i]].value;
        else
                for (uint32_t i = 0; i < n; i++)
                        memcpy(column.fixed + i * size, &entries[at[i]].value, size);
}

static void gather_records(const struct join_rows *rows, const uint32_t *at, fst_batch *batch)
{
        enum { AHEAD = 16 };
        for (uint32_t i = 0; i < batch->rows; i++) {
                if (i + AHEAD < batch->rows)
                        __builtin_prefetch(rows->entries[at[i + AHEAD]].record);
                struct record_view r = record_read(rows->type, rows->entries[at[i]].record);
                record_to_row(batch, i, &r);
        }
}

static void gather_whole_keys(const struct join_rows *rows, const uint32_t *at, uint32_t n, fst_column column)
{
        if (rows->type.key == FST_KIND_I64)
                for (uint32_t i = 0; i < n; i++)
                        column.i64[i] = record_i64_of(rows->entries[at[i]].prefix);
        else
                for (uint32_t i = 0; i < n; i++)
                        column.i64[i] = (int64_t)record_f64_bits_of(rows->entries[at[i]].prefix);
}

static void gather_column(fst_column from, uint8_t kind, size_t size, const uint32_t *at, uint32_t n, fst_column to)
{
        if (kind == FST_KIND_BYTES)
                for (uint32_t i = 0; i < n; i++)
                        to.bytes[i] = from.bytes[at[i]];
        else if (kind == FST_KIND_FIXED)
                for (uint32_t i = 0; i < n; i++)
                        memcpy(to.fixed + i * size, from.fixed + at[i] * size, size);
        else
                for (uint32_t i = 0; i < n; i++)
                        to.i64[i] = from.i64[at[i]];
}

fst_batch join_rows_gather(const struct join_rows *rows, const struct columns *columns, bool keys, const uint32_t *at,
                           uint32_t n)
{
        const fst_type type = rows->type;
        fst_batch batch = columns_batch(columns, type);
        batch.rows = n;
        if (rows->batch) {
                if (keys)
                        gather_column(rows->batch->key, type.key, type.key_size, at, n, batch.key);
                gather_column(rows->batch->value, type.value, type.value_size, at, n, batch.value);
        } else if (sort_index_holds(type)) {
                if (keys)
                        gather_whole_keys(rows, at, n, batch.key);
                if (type.value)
                        gather_whole_values(rows->entries, at, n, type.value_size, batch.value);
        } else {
                gather_records(rows, at, &batch);
        }
        return batch;
}
