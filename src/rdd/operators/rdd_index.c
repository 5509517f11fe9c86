/*
 * zip_with_index and zip_with_unique_id: rows with a number. The row is the key of the result, encoded as in
 * rdd/pipeline/op_key.h. Indexes continue across partitions: a preliminary job (driver/actions/partition_offsets.c)
 * counts the rows of earlier partitions before the first job that needs the indexes.
 */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/pipeline/op_key.h"

static fst_rdd *index_rdd_new(fst_rdd *parent, bool unique, fst_site site)
{
        fst_type type = fst_type_pair(key_op_value(parent->type), FST_I64);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_INDEXED, type, parent, site);
        rdd->index.unique = unique;
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

FST_API fst_rdd *fst_zip_with_index_at(fst_rdd *rdd, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return index_rdd_new(rdd, false, site);
}

FST_API fst_rdd *fst_zip_with_unique_id_at(fst_rdd *rdd, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return index_rdd_new(rdd, true, site);
}

static void index_free(fst_rdd *rdd)
{
        free(rdd->index.starts);
}

static int index_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Index *index = arena_alloc(&w->arena, sizeof(*index));
        firesteel__index__init(index);
        index->unique = rdd->index.unique;
        if (!rdd->index.unique && !rdd->index.starts)
                return error_set(error, -EINVAL, "the rows before the partitions of %s are not counted yet",
                                 rdd->call_site);
        index->n_starts = rdd->index.unique ? 0 : (size_t)rdd->lineage.partitions;
        index->starts = rdd->index.starts;
        m->index = index;
        return 0;
}

static int index_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                        struct fst_error *error)
{
        const Firesteel__Index *m = message->index;
        fst_type row = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        if (!m || m->n_starts != (m->unique ? 0 : (size_t)rdd->lineage.partitions))
                return rdd_wire_bad(rdd, error, "its starts do not match its partitions");
        if (rdd->type.value != FST_KIND_I64 || !fst_type_equal(row, key_op_value(rdd_parent(rdd)->type)))
                return rdd_wire_bad(rdd, error, "its type is not its parent's row with a number");
        rdd->index.unique = m->unique;
        rdd->index.starts = m->starts;
        return rdd_wire_check_partitions(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct index_op {
        struct op op;
        const fst_rdd *rdd;
        int64_t next, step;
        int64_t numbers[FST_BATCH_ROWS];
        fst_bytes *encoded; /* rows that are pairs, encoded */
};

static int index_begin(struct op *op)
{
        struct index_op *self = container_of(op, struct index_op, op);
        bool unique = self->rdd->index.unique;
        self->next = unique ? op->partition : (int64_t)self->rdd->index.starts[op->partition];
        self->step = unique ? self->rdd->lineage.partitions : 1;
        return 0;
}

static int index_consume(struct op *op, const struct rows *in)
{
        struct index_op *self = container_of(op, struct index_op, op);
        struct rows rows = {
                .batch = {.rows = in->batch.rows, .type = op->type, .key = in->batch.key, .value.i64 = self->numbers},
                .stable = {in->stable[0], in->stable[1]},
        };
        for (uint32_t i = 0; i < in->batch.rows; i++, self->next += self->step)
                self->numbers[i] = self->next;
        if (self->encoded) {
                key_op_encode(&op->heap, &in->batch, self->encoded);
                rows.batch.key.bytes = self->encoded;
        }
        int r = op_push(op, &rows);
        arena_reset(&op->heap);
        return r;
}

static void index_op_free(struct op *op)
{
        struct index_op *self = container_of(op, struct index_op, op);
        free(self->encoded);
        op_deinit(op);
        free(self);
}

static const struct op_class index_op_class = {"zip_with_index", .begin = index_begin, .consume = index_consume,
                                               .free = index_op_free};

static struct op *index_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct index_op *self = new0(struct index_op);
        op_init(&self->op, &index_op_class, run, rdd->type);
        self->rdd = rdd;
        if (rdd_parent(rdd)->type.value)
                self->encoded = new_array(fst_bytes, FST_BATCH_ROWS);
        return &self->op;
}

const struct rdd_class rdd_indexed_class = {
        .spark = "ZippedWithIndexRDD",
        .parents = 1,
        .free = index_free,
        .encode = index_encode,
        .decode = index_decode,
        .op_new = index_op_new,
};
