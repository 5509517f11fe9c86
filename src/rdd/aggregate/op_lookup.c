/* See op_lookup.h. Keys are compared as in reduce_by_key. */
#include "rdd/aggregate/op_lookup.h"

#include "base/mem.h"
#include "rdd/pipeline/key.h"
#include "structs/struct_row.h"

static int lookup_check_key(fst_type pairs, fst_key key, struct fst_error *error)
{
        char have[64];
        fst_type seen = fst_type_seen(pairs);
        if (seen.key != key.kind)
                return error_set(error, -EINVAL, "the keys of %s are not %s", fst_type_name(pairs, have),
                                 key.kind == FST_KIND_I64     ? "I64"
                                 : key.kind == FST_KIND_F64   ? "F64"
                                 : key.kind == FST_KIND_BYTES ? "BYTES"
                                                              : "FIXED");
        if (key.kind == FST_KIND_FIXED && !key.fixed)
                return error_set(error, -EINVAL, "the key is NULL, but it must have %u bytes", seen.key_size);
        if (key.kind == FST_KIND_FIXED && key.size && key.size != seen.key_size)
                return error_set(error, -EINVAL, "the keys are %s, but the given key is a struct of %u bytes",
                                 fst_type_name((fst_type){.key = pairs.key, .key_size = pairs.key_size}, have),
                                 key.size);
        return 0;
}

int lookup_key(fst_type pairs, fst_key key, struct arena *space, struct reduce_value *value, struct fst_error *error)
{
        int r = lookup_check_key(pairs, key, error);
        if (r)
                return r;
        const struct struct_type *s = struct_type_of_column(pairs.key, pairs.key_size);
        *value = (struct reduce_value){.present = true};
        if (s) {
                value->size = struct_row_size(s, key.fixed);
                value->data = arena_alloc(space, value->size);
                struct_row_write(s, key.fixed, value->data);
        } else if (key.kind == FST_KIND_BYTES) {
                value->data = (char *)key.bytes.data;
                value->size = key.bytes.len;
        } else if (key.kind == FST_KIND_FIXED) {
                value->data = (char *)key.fixed;
                value->size = pairs.key_size;
        } else {
                memcpy(&value->number, &key.i64, 8);
        }
        return 0;
}

struct lookup_op {
        struct op op;
        const struct reduce_value *key;
};

bool lookup_is_key(const fst_batch *batch, uint32_t row, const struct reduce_value *key)
{
        double x;
        switch (batch->type.key) {
        case FST_KIND_I64:
                return batch->key.i64[row] == key->number;
        case FST_KIND_F64:
                memcpy(&x, &key->number, 8);
                return key_f64_bits(batch->key.f64[row]) == key_f64_bits(x);
        case FST_KIND_BYTES:
                return batch->key.bytes[row].len == key->size &&
                       (key->size == 0 || memcmp(batch->key.bytes[row].data, key->data, key->size) == 0);
        default:
                return memcmp(batch->key.fixed + (size_t)row * batch->type.key_size, key->data, key->size) == 0;
        }
}

static int lookup_consume(struct op *op, const struct rows *in)
{
        const struct lookup_op *self = container_of(op, struct lookup_op, op);
        int r = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows && r == 0; i++) {
                if (!lookup_is_key(&in->batch, i, self->key))
                        continue;
                struct rows found = rows_part(in, i, 1);
                found.batch.type = op->type;
                found.batch.key = found.batch.value;
                r = op_push(op, &found);
        }
        return r;
}

static void lookup_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct lookup_op, op));
}

static const struct op_class lookup_class = {"lookup", .consume = lookup_consume, .free = lookup_free};

struct op *lookup_op_new(struct task_run *run, fst_type pairs, const struct reduce_value *key)
{
        struct lookup_op *self = new0(struct lookup_op);
        op_init(&self->op, &lookup_class, run, (fst_type){.key = pairs.value, .key_size = pairs.value_size});
        self->key = key;
        return &self->op;
}
