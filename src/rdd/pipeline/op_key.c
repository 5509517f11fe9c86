/*
 * Adds and removes keys; see op_key.h.
 *
 * The key function is a map operator of its own, whose downstream is `collector`. It makes one key for each row of the
 * input batch, in one batch or several. The collector combines the keys with the rows.
 */
#include "rdd/pipeline/op_key.h"

#include "base/mem.h"
#include "rdd/pipeline/op_element.h"
#include "rdd/pipeline/record.h"
#include "store/page.h"

struct key_op {
        struct op op;
        struct op *keys;     /* in → key */
        struct op collector; /* receives the keys */
        const struct rows *in;
        uint32_t at;        /* the first row without a key */
        fst_bytes *encoded; /* pairs: the current rows as bytes, in op.heap */
};

fst_type key_op_value(fst_type row)
{
        return row.value ? FST_BYTES : row;
}

void key_op_encode(struct arena *heap, const fst_batch *in, fst_bytes *to)
{
        fst_type t = in->type;
        for (uint32_t i = 0; i < in->rows; i++) {
                uint32_t key = (uint32_t)record_field_size(t.key, t.key_size, in->key, i);
                uint32_t value = (uint32_t)record_field_size(t.value, t.value_size, in->value, i);
                size_t size = page_record_size(in, i);
                char *at = arena_alloc(heap, size);
                to[i] = (fst_bytes){at, size};
                if (t.key == FST_KIND_BYTES)
                        at = mempcpy(at, &key, sizeof(key));
                if (t.value == FST_KIND_BYTES)
                        at = mempcpy(at, &value, sizeof(value));
                if (key)
                        at = mempcpy(at, record_field(t.key, t.key_size, in->key, i), key);
                if (value)
                        memcpy(at, record_field(t.value, t.value_size, in->value, i), value);
        }
}

/* Decodes bytes of key_op_encode into rows of @out, which has its own columns. False if any is invalid. */
static bool key_op_unpack(const fst_batch *out, const fst_bytes *from)
{
        fst_type t = out->type;
        size_t prefix = (t.key == FST_KIND_BYTES ? 4 : 0) + (t.value == FST_KIND_BYTES ? 4 : 0);
        for (uint32_t i = 0; i < out->rows; i++) {
                if (unlikely(from[i].len < prefix))
                        return false;
                struct record_view r = record_read(t, (const unsigned char *)from[i].data);
                if (unlikely(prefix + r.key_len + r.value_len != from[i].len))
                        return false;
                record_to_row(out, i, &r);
        }
        return true;
}

static int key_op_push_unpacked(struct op *op, struct rows *rows, const fst_bytes *from)
{
        rows->batch.type = op->type;
        rows->batch.key = op->out.key;
        rows->batch.value = op->out.value;
        if (!key_op_unpack(&rows->batch, from))
                return task_run_fail(op->run, -EBADMSG, "a packed row has the wrong length");
        return op_push(op, rows);
}

static int key_op_collect(struct op *op, const struct rows *keys)
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

/* Discards the keys of an abandoned batch. */
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

static const struct op_class key_class = {"key_by", .consume = key_consume, .abandon = key_abandon, .free = key_free};
static const struct op_class collector_class = {"key_by", .consume = key_op_collect};

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

/* ------------------------------------------------------------------------------------------ removing keys */

static int value_consume(struct op *op, const struct rows *in)
{
        struct rows rows = *in;
        if (op->type.value)
                return key_op_push_unpacked(op, &rows, in->batch.value.bytes);
        rows.batch.type = op->type;
        rows.batch.key = in->batch.value;
        return op_push(op, &rows);
}

static void key_op_free_plain(struct op *op)
{
        op_deinit(op);
        free(op);
}

static const struct op_class value_class = {"values", .consume = value_consume, .free = key_op_free_plain};

struct op *value_op_new(struct task_run *run, fst_type keyed, fst_type out)
{
        struct op *op = new0(struct op);
        op_init(op, &value_class, run, out);
        if (out.value)
                op_alloc_out(op, out);
        return op;
}

/* --------------------------------------------------------------------------------------------------- keys only */

static int keys_consume(struct op *op, const struct rows *in)
{
        struct rows rows = *in;
        rows.batch.type = op->type;
        return op_push(op, &rows);
}

static const struct op_class keys_class = {"keys", .consume = keys_consume, .free = key_op_free_plain};

struct op *keys_op_new(struct task_run *run, fst_type pairs)
{
        struct op *op = new0(struct op);
        op_init(op, &keys_class, run, (fst_type){.key = pairs.key, .key_size = pairs.key_size});
        return op;
}

/* ---------------------------------------------------------------------------------------- pairs in one column */

static int pack_consume(struct op *op, const struct rows *in)
{
        struct rows rows = {.batch = {.rows = in->batch.rows, .type = op->type, .key = op->out.key}};
        key_op_encode(&op->heap, &in->batch, op->out.key.bytes);
        rows.stable[1].start = (uintptr_t)arena_newest(&op->heap, &rows.stable[1].size);
        int r = op_push(op, &rows);
        arena_reset(&op->heap);
        return r;
}

static int unpack_consume(struct op *op, const struct rows *in)
{
        struct rows rows = *in;
        return key_op_push_unpacked(op, &rows, in->batch.key.bytes);
}

static const struct op_class pack_class = {"pack", .consume = pack_consume, .free = key_op_free_plain};
static const struct op_class unpack_class = {"unpack", .consume = unpack_consume, .free = key_op_free_plain};

struct op *pack_op_new(struct task_run *run)
{
        struct op *op = new0(struct op);
        op_init(op, &pack_class, run, FST_BYTES);
        op_alloc_out(op, FST_BYTES);
        return op;
}

struct op *unpack_op_new(struct task_run *run, fst_type pairs)
{
        struct op *op = new0(struct op);
        op_init(op, &unpack_class, run, pairs);
        op_alloc_out(op, pairs);
        return op;
}
