/* Random access to the records of a page (store/page.h): where a record's key and value are, the first eight bytes of
 * its key as a number in sort order, and the comparison of the remaining bytes. */
#pragma once

#include "base/mem.h"

#include <firesteel/iter.h>
#include <firesteel/rdd.h>

#include <endian.h>

struct record_view {
        const unsigned char *key, *value;
        uint32_t key_len, value_len;
};

/* The layout of a type's records and their sort order. */
struct record_order {
        fst_type type;
        bool descending;
        bool by_bytes; /* keys are BYTES or FIXED: keys with equal prefixes may differ */
};

static inline struct record_order record_order(fst_type type, enum fst_order order)
{
        return (struct record_order){.type = type,
                                     .descending = order == FST_DESCENDING,
                                     .by_bytes = type.key == FST_KIND_BYTES || type.key == FST_KIND_FIXED};
}

static inline struct record_view record_read(fst_type type, const unsigned char *record)
{
        struct record_view r = {.key_len = type.key_size, .value_len = type.value_size};
        if (type.key == FST_KIND_BYTES) {
                memcpy(&r.key_len, record, 4);
                record += 4;
        }
        if (type.value == FST_KIND_BYTES) {
                memcpy(&r.value_len, record, 4);
                record += 4;
        }
        r.key = record;
        r.value = record + r.key_len;
        return r;
}

static inline const unsigned char *record_end(const struct record_view *r)
{
        return r->value + r->value_len;
}

/* Eight bytes of a key from @offset on, big-endian, padded with zeros. *@key may be read up to @key + @readable. */
static inline uint64_t record_bytes(const unsigned char *key, size_t len, size_t offset, size_t readable)
{
        uint64_t bytes = 0;
        if (offset >= len)
                return 0;
        size_t left = len - offset;
        if (likely(readable >= offset + 8)) {
                memcpy(&bytes, key + offset, 8);
                bytes = be64toh(bytes);
                return left < 8 ? bytes & ~(~0ull >> (8 * left)) : bytes;
        }
        for (size_t i = 0; i < MIN(left, (size_t)8); i++)
                bytes |= (uint64_t)key[offset + i] << (56 - 8 * i);
        return bytes;
}

/* Numbers whose unsigned order equals the order of I64, and of Java's Double.compare. */
static inline uint64_t record_i64_prefix(int64_t x)
{
        return (uint64_t)x ^ 1ull << 63;
}

static inline uint64_t record_f64_prefix(double x)
{
        uint64_t bits;
        if (x != x)
                x = __builtin_nan("");
        memcpy(&bits, &x, sizeof(bits));
        return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* The inverse: the I64, and the bits of the F64. */
static inline int64_t record_i64_of(uint64_t prefix)
{
        return (int64_t)(prefix ^ 1ull << 63);
}

static inline uint64_t record_f64_bits_of(uint64_t prefix)
{
        return prefix >> 63 ? prefix ^ 1ull << 63 : ~prefix;
}

/* The prefix of a record's key. The first @readable bytes of the key may be read. */
static inline uint64_t record_prefix(const struct record_order *order, const struct record_view *r, size_t readable)
{
        uint64_t prefix;
        if (order->by_bytes) {
                prefix = record_bytes(r->key, r->key_len, 0, readable);
        } else if (order->type.key == FST_KIND_I64) {
                int64_t x;
                memcpy(&x, r->key, sizeof(x));
                prefix = record_i64_prefix(x);
        } else {
                double x;
                memcpy(&x, r->key, sizeof(x));
                prefix = record_f64_prefix(x);
        }
        return order->descending ? ~prefix : prefix;
}

/* Compares two keys that agree in their first @offset bytes (or end there). Returns <0, 0, >0. */
static inline int record_compare_behind(const struct record_order *order, const struct record_view *a,
                                        const struct record_view *b, size_t offset)
{
        size_t shorter = MIN(a->key_len, b->key_len);
        int r = shorter > offset ? memcmp(a->key + offset, b->key + offset, shorter - offset) : 0;
        if (r == 0)
                r = (a->key_len > b->key_len) - (a->key_len < b->key_len);
        return order->descending ? -r : r;
}

/* Points @r at row @row of a batch: BYTES as views, everything else copied. */
static inline void record_to_row(const fst_batch *batch, uint32_t row, const struct record_view *r)
{
        fst_type type = batch->type;
        if (type.key == FST_KIND_BYTES)
                batch->key.bytes[row] = (fst_bytes){(const char *)r->key, r->key_len};
        else if (type.key == FST_KIND_FIXED)
                memcpy(batch->key.fixed + (size_t)row * r->key_len, r->key, r->key_len);
        else
                memcpy(&batch->key.i64[row], r->key, 8);
        if (type.value == FST_KIND_BYTES)
                batch->value.bytes[row] = (fst_bytes){(const char *)r->value, r->value_len};
        else if (type.value == FST_KIND_FIXED)
                memcpy(batch->value.fixed + (size_t)row * r->value_len, r->value, r->value_len);
        else if (type.value != FST_KIND_NONE)
                memcpy(&batch->value.i64[row], r->value, 8);
}

static inline size_t record_field_size(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        return kind == FST_KIND_BYTES ? column.bytes[row].len : size;
}

static inline const void *record_field(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        if (kind == FST_KIND_BYTES)
                return column.bytes[row].data;
        return column.fixed + (size_t)row * size; /* numbers take 8 bytes */
}
