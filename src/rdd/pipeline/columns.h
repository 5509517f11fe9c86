/* Output columns of a kernel: arrays for the rows of a batch, or for fewer if the rows are large structs. Reused by
 * later tasks. */
#pragma once

#include "base/mem.h"

#include <firesteel/iter.h>

#define COLUMN_BYTES ((size_t)256 << 10) /* the maximal size of an array, unless a single row is larger */

struct columns {
        fst_column key, value;
        size_t key_bytes, value_bytes;
        uint32_t room; /* capacity in rows */
};

static inline size_t columns_cell(uint8_t kind, uint32_t size)
{
        return kind == FST_KIND_BYTES ? sizeof(fst_bytes) : kind == FST_KIND_NONE ? 0 : MAX(size, 1u);
}

static inline void columns_grow(fst_column *column, size_t *held, size_t bytes)
{
        if (*held >= bytes)
                return;
        free(column->fixed);
        column->fixed = mem_alloc(bytes);
        *held = bytes;
}

/* Prepares for rows of @type. */
static inline void columns_start(struct columns *c, fst_type type)
{
        size_t key = columns_cell(type.key, type.key_size), value = columns_cell(type.value, type.value_size);
        size_t cell = MAX(key, value), room = COLUMN_BYTES / cell;
        c->room = (uint32_t)(room == 0 ? 1 : MIN(room, (size_t)FST_BATCH_ROWS));
        columns_grow(&c->key, &c->key_bytes, key * c->room);
        columns_grow(&c->value, &c->value_bytes, value * c->room);
}

/* An empty batch on these columns. */
static inline fst_batch columns_batch(const struct columns *c, fst_type type)
{
        return (fst_batch){.type = type, .key = c->key, .value = c->value};
}

static inline void columns_deinit(struct columns *c)
{
        free(c->key.fixed);
        free(c->value.fixed);
        *c = (struct columns){0};
}
