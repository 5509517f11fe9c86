/* See cogroup_side.h. */
#include "rdd/cogroup/cogroup_side.h"

#include "base/mem.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/record.h"
#include "rdd/sort/sorter.h"

/* ------------------------------------------------------------------------------------------------------- keys */

int batch_compare(const fst_batch *a, uint32_t i, const fst_batch *b, uint32_t j)
{
        switch (a->type.key) {
        case FST_KIND_I64:
                return (a->key.i64[i] > b->key.i64[j]) - (a->key.i64[i] < b->key.i64[j]);
        case FST_KIND_F64: {
                uint64_t x = record_f64_prefix(key_f64(a->key.f64[i])), y = record_f64_prefix(key_f64(b->key.f64[j]));
                return (x > y) - (x < y);
        }
        case FST_KIND_BYTES:
                return fst_bytes_compare(a->key.bytes[i], b->key.bytes[j]);
        default:
                return memcmp(a->key.fixed + (size_t)i * a->type.key_size, b->key.fixed + (size_t)j * b->type.key_size,
                              a->type.key_size);
        }
}

uint32_t batch_run_end(const fst_batch *batch, uint32_t at)
{
        uint32_t to = at + 1, rows = batch->rows;
        switch (batch->type.key) {
        case FST_KIND_I64: {
                const int64_t *keys = batch->key.i64, key = keys[at];
                while (to < rows && keys[to] == key)
                        to++;
                return to;
        }
        case FST_KIND_F64: {
                uint64_t key = key_f64_bits(batch->key.f64[at]);
                while (to < rows && key_f64_bits(batch->key.f64[to]) == key)
                        to++;
                return to;
        }
        case FST_KIND_BYTES: {
                const fst_bytes *keys = batch->key.bytes, key = keys[at];
                while (to < rows && fst_bytes_equal(keys[to], key))
                        to++;
                return to;
        }
        default: {
                size_t size = batch->type.key_size;
                const char *key = batch->key.fixed + at * size;
                while (to < rows && memcmp(batch->key.fixed + to * size, key, size) == 0)
                        to++;
                return to;
        }
        }
}

/* ----------------------------------------------------------------------------------------------------- the rows */

static struct cogroup_side *side_of(struct op *op)
{
        return container_of(op, struct cogroup_side, op);
}

static int side_begin(struct op *op)
{
        struct cogroup_side *side = side_of(op);
        struct fst_error error = FST_ERROR_INIT;
        int r = sorter_start(side->sorter,
                             &(struct sorter_options){.memory = task_run_memory(op->run),
                                                      .type = op->type,
                                                      .order = FST_ASCENDING,
                                                      .spill = op->run->spill},
                             &error);
        side->started = r == 0;
        side->at = side->batch.rows = 0;
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int side_consume(struct op *op, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = sorter_add_batch(side_of(op)->sorter, &in->batch, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static const struct op_class side_class = {"cogroup", .begin = side_begin, .consume = side_consume};

int side_read(struct cogroup_side *side)
{
        side->at = 0;
        return sorter_next(side->sorter, &side->batch, side->error);
}

int side_sort(struct cogroup_side *side)
{
        int r = sorter_finish(side->sorter, side->error);
        return r ? r : side_read(side);
}

void side_end(struct cogroup_side *side)
{
        if (!side->started)
                return;
        side->op.run->counters.disk_spilled += (int64_t)sorter_stats(side->sorter).spilled_bytes;
        sorter_reset(side->sorter);
        side->started = false;
}

/* --------------------------------------------------------------------------------------------- rows of one key */

static bool cogroup_side_refill(fst_iter *iter)
{
        struct cogroup_side *side = container_of(iter, struct cogroup_side, values);
        uint32_t from, to;
        iter->batch.rows = iter->at = 0;
        iter->status = side_next_run(side, &from, &to);
        if (iter->status || from == to)
                return false;
        fst_type type = side->op.type;
        fst_column values = column_from(side->batch.value, type.value, type.value_size, from);
        if (side->structs.type) {
                iter->status = struct_column_read(&side->structs, values.bytes, to - from, side->error);
                values.fixed = side->structs.rows;
        }
        iter->batch.key = values;
        iter->batch.rows = to - from;
        return iter->status == 0;
}

void side_open(struct cogroup_side *side, const fst_batch *key, bool has)
{
        side->key = key;
        side->more = has;
        side->values.batch.rows = side->values.at = 0;
        side->values.status = 0;
}

int side_next_run(struct cogroup_side *side, uint32_t *from, uint32_t *to)
{
        *from = *to = side->at;
        if (!side->more)
                return 0;
        if (unlikely(side->at == side->batch.rows)) {
                int r = task_run_stopped(side->op.run) ? task_run_cancelled(side->op.run) : side_read(side);
                *from = *to = side->at;
                side->more = r == 0 && !side_ended(side) && batch_compare(&side->batch, 0, side->key, 0) == 0;
                if (!side->more)
                        return r;
        }
        *to = side->at = batch_run_end(&side->batch, side->at);
        side->more = *to == side->batch.rows;
        return 0;
}

int side_close(struct cogroup_side *side)
{
        uint32_t from, to;
        int r = side->values.status;
        do {
                if (r == 0)
                        r = side_next_run(side, &from, &to);
        } while (r == 0 && from < to);
        return r;
}

/* ------------------------------------------------------------------------------------------ creating and freeing */

void side_init(struct cogroup_side *side, struct task_run *run, fst_type type, struct fst_error *error,
               const char *const *name)
{
        op_init(&side->op, &side_class, run, type);
        side->sorter = sorter_new();
        side->error = error;
        side->name = name;
        side->values.batch.type = fst_type_seen((fst_type){.key = type.value, .key_size = type.value_size});
        struct_column_init(&side->structs, type.value, type.value_size);
        side->values.tag = fst_type_tag(side->values.batch.type);
        side->values.refill = cogroup_side_refill;
}

void side_deinit(struct cogroup_side *side)
{
        side_end(side);
        sorter_free(side->sorter);
        struct_column_deinit(&side->structs);
        op_deinit(&side->op);
}
