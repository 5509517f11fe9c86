/* zip: pairs the rows of two RDDs. Collects the left rows, then pairs the right rows with them as they arrive. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/cogroup/spillable_rows.h"

#include "base/mem.h"

#define UNEQUAL "Can only zip RDDs with same number of elements in each partition"

FST_API fst_rdd *fst_zip_at(fst_rdd *left, fst_rdd *right, fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        fst_rdd *sides[] = {left, right};
        fst_rdd *rdd = rdd_new_of(left->sc, RDD_ZIPPED, fst_type_pair(left->type, right->type), sides, 2, site);
        rdd_check_columns(rdd);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

int rdd_plan_alike(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        rdd->lineage.partitions = rdd_parent(rdd)->lineage.partitions;
        for (int i = 1; i < rdd->n_parents; i++)
                if (rdd->parents[i]->lineage.partitions != rdd->lineage.partitions) {
                        error_set(&error, -EINVAL, "Can't zip RDDs with unequal numbers of partitions: List(%d, %d)",
                                  rdd->lineage.partitions, rdd->parents[i]->lineage.partitions);
                        rdd_fail_with(rdd, -EINVAL, &error);
                        return rdd->status;
                }
        return 0;
}

int rdd_wire_check_columns(const fst_rdd *rdd, struct fst_error *error)
{
        fst_type a = rdd->parents[0]->type, b = rdd->parents[1]->type;
        if (a.value || b.value || !fst_type_equal(rdd->type, fst_type_pair(a, b)))
                return rdd_wire_bad(rdd, error, "its type is not the pair of its parents' types");
        return 0;
}

static int zip_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_check_columns(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct zip_op {
        struct op op;
        struct spillable_rows left;
        fst_batch batch; /* left rows */
        uint32_t at;     /* the first unpaired row */
};

static struct zip_op *zip_of(struct op *op)
{
        return container_of(op, struct zip_op, op);
}

static int zip_next_left(struct zip_op *self)
{
        self->at = 0;
        return spillable_rows_next(&self->left, &self->batch);
}

static int zip_consume(struct op *op, const struct rows *in)
{
        struct zip_op *self = zip_of(op);
        int r = 0;
        for (uint32_t at = 0; at < in->batch.rows && r == 0;) {
                if (self->at == self->batch.rows && (r = zip_next_left(self)))
                        break;
                uint32_t n = MIN(self->batch.rows - self->at, in->batch.rows - at);
                if (n == 0)
                        return task_run_fail(op->run, -EINVAL, UNEQUAL);
                struct rows left = {.batch = self->batch};
                struct rows a = rows_part(&left, self->at, n), b = rows_part(in, at, n);
                struct rows pairs = {.batch = {.rows = n, .type = op->type, .key = a.batch.key, .value = b.batch.key}};
                r = op_push(op, &pairs);
                self->at += n;
                at += n;
        }
        return r;
}

static int zip_end(struct op *op)
{
        struct zip_op *self = zip_of(op);
        int r = op->status;
        if (r == 0 && self->at == self->batch.rows)
                r = zip_next_left(self);
        if (r == 0 && self->at < self->batch.rows)
                r = task_run_fail(op->run, -EINVAL, UNEQUAL);
        op->class->abandon(op);
        return r;
}

static void zip_abandon(struct op *op)
{
        struct zip_op *self = zip_of(op);
        self->batch.rows = self->at = 0;
        spillable_rows_reset(&self->left);
}

static void zip_free(struct op *op)
{
        struct zip_op *self = zip_of(op);
        spillable_rows_deinit(&self->left);
        op_deinit(op);
        free(self);
}

static const struct op_class zip_op_class = {"zip", .consume = zip_consume, .end = zip_end, .abandon = zip_abandon,
                                             .free = zip_free};

static struct op *zip_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct zip_op *self = new0(struct zip_op);
        op_init(&self->op, &zip_op_class, run, rdd->type);
        spillable_rows_init(&self->left, run, rdd->parents[0]->type);
        return &self->op;
}

static int zip_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct zip_op *self = zip_of(node->op);
        int r = op_begin(&self->left.op);
        if (r == 0)
                r = node_feed_parent(node, 0, partition, &self->left.op);
        if (r == 0)
                r = spillable_rows_read(&self->left);
        return r ? r : node_feed_parent(node, 1, partition, to);
}

const struct rdd_class rdd_zipped_class = {
        .spark = "ZippedPartitionsRDD2",
        .parents = 2,
        .plan = rdd_plan_alike,
        .decode = zip_decode,
        .op_new = zip_op_new,
        .feed = zip_feed,
};
