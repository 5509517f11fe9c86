/* Pairs of each key, or of each row that is not a pair, with 1: count_by_key and count_by_value add these up. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"

struct counted_op {
        struct op op;
        int64_t ones[FST_BATCH_ROWS];
};

static int counted_consume(struct op *op, const struct rows *in)
{
        struct counted_op *self = container_of(op, struct counted_op, op);
        struct rows pairs = *in;
        pairs.batch.type = op->type;
        pairs.batch.value.i64 = self->ones;
        return op_push(op, &pairs);
}

static void counted_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct counted_op, op));
}

static const struct op_class counted_op_class = {"count_by", .consume = counted_consume, .free = counted_free};

static struct op *counted_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct counted_op *self = new0(struct counted_op);
        op_init(&self->op, &counted_op_class, run, rdd->type);
        for (uint32_t i = 0; i < FST_BATCH_ROWS; i++)
                self->ones[i] = 1;
        return &self->op;
}

static fst_type counted_type(fst_type row)
{
        return (fst_type){.key = row.key, .key_size = row.key_size, .value = FST_KIND_I64, .value_size = 8};
}

fst_rdd *rdd_with_one(fst_rdd *parent, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_COUNTED, counted_type(parent->type), parent, site);
        rdd_depend_narrowly(rdd, parent->type.value != FST_KIND_NONE);
        return rdd;
}

static int counted_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                          struct fst_error *error)
{
        if (!fst_type_equal(rdd->type, counted_type(rdd_parent(rdd)->type)))
                return rdd_wire_bad(rdd, error, "its type is not (key of its parent, I64)");
        return rdd_wire_check_partitions(rdd, error);
}

const struct rdd_class rdd_counted_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .decode = counted_decode,
        .op_new = counted_op_new,
};
