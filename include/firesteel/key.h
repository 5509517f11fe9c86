/*
 * Keys of several columns.
 *
 * A struct key (FIXED) is ordered byte by byte, which is not the order of its numbers. These functions encode columns
 * into one BYTES key instead, whose order as bytes is the order of the columns: by the first, then by the second, …
 *
 *      // sort_by: the greatest count first, words of the same count in alphabetical order
 *      static int by_count(fst_task *task, fst_bytes word, int64_t count, fst_out *out)
 *      {
 *              char space[256];
 *              fst_key_buffer key = fst_key_in(space, sizeof(space));
 *              if (fst_key_append_i64(&key, count, FST_DESCENDING) || fst_key_append_bytes(&key, word, FST_ASCENDING))
 *                      return fst_fail(task, "\"%.*s\" is too long for a key", FST_TEXT(word));
 *              fst_emit(out, fst_key_encoded(&key));
 *              return 0;
 *      }
 *
 * All keys of an RDD must have the same columns in the same orders. Columns are ordered as sort_by orders rows: I64 by
 * value, F64 with -0.0 before 0.0 and every NaN as the greatest, BYTES as unsigned bytes. Equal keys are equal bytes,
 * so that they group and join too. A number takes 8 bytes, a text its length, 2 bytes, and 1 more for each NUL in it.
 */
#pragma once

#include <firesteel/rdd.h>
#include <firesteel/types.h>

#include <errno.h>

typedef struct fst_key_buffer {
        unsigned char *data;
        size_t len, room;
} fst_key_buffer;

/* An empty key that grows in @room bytes at @space, which the caller keeps. */
static inline fst_key_buffer fst_key_in(void *space, size_t room)
{
        return (fst_key_buffer){(unsigned char *)space, 0, room};
}

/* The key so far: a view into its space. */
static inline fst_bytes fst_key_encoded(const fst_key_buffer *key)
{
        return (fst_bytes){(const char *)key->data, key->len};
}

#include <firesteel/detail/key_columns.h>

/* Append a column. Return 0, or -ENOSPC if the space is full: the key is then as it was. */
static inline int fst_key_append_i64(fst_key_buffer *key, int64_t x, enum fst_order order)
{
        return fst_key_append_u64(key, (uint64_t)x ^ (uint64_t)1 << 63, order);
}

static inline int fst_key_append_f64(fst_key_buffer *key, double x, enum fst_order order)
{
        uint64_t bits, sign = (uint64_t)1 << 63;
        memcpy(&bits, &x, sizeof(bits));
        if (x != x)
                bits = (uint64_t)0x7ff8 << 48; /* one NaN */
        return fst_key_append_u64(key, bits & sign ? ~bits : bits | sign, order);
}

static inline int fst_key_append_bytes(fst_key_buffer *key, fst_bytes text, enum fst_order order)
{
        size_t nuls = 0;
        for (size_t i = 0; i < text.len; i++)
                nuls += text.data[i] == 0;
        /* Each part is compared with the room alone: a sum could overflow. */
        size_t left = key->room - key->len;
        if (text.len > left || nuls > left - text.len || left - text.len - nuls < 2)
                return -ENOSPC;
        for (size_t i = 0; i < text.len; i++) {
                fst_key_put(key, (unsigned char)text.data[i], order);
                if (text.data[i] == 0)
                        fst_key_put(key, 0xff, order); /* a NUL in the text is behind the end of a shorter text */
        }
        fst_key_put(key, 0, order);
        fst_key_put(key, 0, order);
        return 0;
}
