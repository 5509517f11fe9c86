/*
 * Keys on and off; see op_key.h.
 *
 * The key function is a map operator of its own whose downstream is `collector`: it makes one key for each row of the
 * input batch, in one batch or several, which the collector puts beside the rows at hand.
 */
#include "rdd/op_key.h"

#include "base/mem.h"
#include "rdd/op_element.h"

struct key_op {
        struct op op;
        struct op *keys;     /* in → key */
        struct op collector; /* takes what `keys` makes */
        const struct rows *in;
        uint32_t at;        /* its first row that has no key yet */
        fst_bytes *encoded; /* pairs: the rows at hand as bytes, in op.heap */
};

fst_type key_op_value(fst_type row)
{
        return row.value ? FST_BYTES : row;
}

static size_t field_size(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        return kind == FST_KIND_BYTES ? column.bytes[row].len : size;
}

static const void *field_data(uint8_t kind, uint32_t size, fst_column column, uint32_t row)
{
        switch (kind) {
        case FST_KIND_BYTES:
                return column.bytes[row].data;
        case FST_KIND_FIXED:
                return column.fixed + (size_t)row * size;
        default:
                return &column.i64[row];
        }
}

void key_op_encode(struct arena *heap, const fst_batch *in, fst_bytes *encoded)
{
        fst_type t = in->type;
        for (uint32_t i = 0; i < in->rows; i++) {
                size_t key = field_size(t.key, t.key_size, in->key, i);
                size_t value = field_size(t.value, t.value_size, in->value, i);
                size_t prefix = t.key == FST_KIND_BYTES ? 4 : 0;
                char *to = arena_alloc(heap, prefix + key + value);
                uint32_t length = (uint32_t)key;
                memcpy(to, &length, prefix);
                if (key)
                        memcpy(to + prefix, field_data(t.key, t.key_size, in->key, i), key);
                if (value)
                        memcpy(to + prefix + key, field_data(t.value, t.value_size, in->value, i), value);
                encoded[i] = (fst_bytes){to, prefix + key + value};
        }
}

static int collect(struct op *op, const struct rows *keys)
{
        struct key_op *self = container_of(op, struct key_op, collector);
        struct rows part = rows_part(self->in, self->at, keys->batch.rows), *in = &part;
        struct rows pairs = {
                .batch = {.rows = keys->batch.rows,
                          .type = self->op.type,
                          .key = keys->batch.key,
                          .value = in->batch.key},
                .stable = {in->stable[0], keys->stable[1]},
        };
        if (in->batch.type.value) {
                key_op_encode(&self->op.heap, &in->batch, self->encoded);
                pairs.batch.value.bytes = self->encoded;
        }
        self->at += keys->batch.rows;
        int r = op_push(&self->op, &pairs);
        arena_reset(&self->op.heap);
        return r;
}

static int key_consume(struct op *op, const struct rows *in)
{
        struct key_op *self = container_of(op, struct key_op, op);
        self->in = in;
        self->at = 0;
        self->keys->status = 0;
        return self->keys->class->consume(self->keys, in);
}

/* Keys of a batch that failed half-way are forgotten. */
static void key_abandon(struct op *op)
{
        struct key_op *self = container_of(op, struct key_op, op);
        op_abandon(self->keys);
}

static void key_free(struct op *op)
{
        struct key_op *self = container_of(op, struct key_op, op);
        op_free(self->keys);
        free(self->encoded);
        op_deinit(op);
        free(self);
}

static const struct op_class key_class = {"sort_by", .consume = key_consume, .abandon = key_abandon, .free = key_free};
static const struct op_class collector_class = {"sort_by", .consume = collect};

struct op *key_op_new(struct task_run *run, fst_type in, fst_type keyed, const fst_fn *fn)
{
        struct key_op *self = new0(struct key_op);
        op_init(&self->op, &key_class, run, keyed);
        fst_type key = {.key = keyed.key, .key_size = keyed.key_size};
        op_init(&self->collector, &collector_class, run, key);
        self->keys = element_op_new(ELEMENT_MAP, run, in, key, fn);
        self->keys->next = &self->collector;
        if (in.value)
                self->encoded = new_array(fst_bytes, FST_BATCH_ROWS);
        return &self->op;
}

/* ----------------------------------------------------------------------------------------------- and back */

static void decode_field(uint8_t kind, uint32_t size, fst_column column, uint32_t row, const char *data, size_t len)
{
        if (kind == FST_KIND_BYTES)
                column.bytes[row] = (fst_bytes){data, len};
        else
                memcpy(column.fixed + (size_t)row * size, data, size);
}

static int value_consume(struct op *op, const struct rows *in)
{
        struct rows rows = *in;
        rows.batch.type = op->type;
        if (!op->type.value) {
                rows.batch.key = in->batch.value;
                return op_push(op, &rows);
        }
        fst_type t = op->type;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes encoded = in->batch.value.bytes[i];
                size_t prefix = t.key == FST_KIND_BYTES ? 4 : 0;
                uint32_t key = t.key_size;
                if (prefix)
                        memcpy(&key, encoded.data, 4);
                decode_field(t.key, t.key_size, op->out.key, i, encoded.data + prefix, key);
                decode_field(t.value, t.value_size, op->out.value, i, encoded.data + prefix + key,
                             encoded.len - prefix - key);
        }
        rows.batch.key = op->out.key;
        rows.batch.value = op->out.value;
        return op_push(op, &rows);
}

static void value_free(struct op *op)
{
        op_deinit(op);
        free(op);
}

static const struct op_class value_class = {"sort_by", .consume = value_consume, .free = value_free};

struct op *value_op_new(struct task_run *run, fst_type keyed, fst_type out)
{
        struct op *op = new0(struct op);
        op_init(op, &value_class, run, out);
        if (out.value)
                op_alloc_out(op, out);
        return op;
}
