/* cartesian: all pairs of rows of two RDDs. Partition i of n × m pairs partition i / m of the left parent with
 * partition i % m of the right one. The right rows are collected first and read again for each left row. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/cogroup/spillable_rows.h"

#include "base/mem.h"

#include <limits.h>

static int cartesian_right_partitions(const struct lineage *child)
{
        return MAX(rdd_of_const(child)->parents[1]->lineage.partitions, 1);
}

static void cartesian_left_needs(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                                 int *count)
{
        *first = partition / cartesian_right_partitions(child);
        *count = 1;
}

static void cartesian_right_needs(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                                  int *count)
{
        *first = partition % cartesian_right_partitions(child);
        *count = 1;
}

FST_API fst_rdd *fst_cartesian_at(fst_rdd *left, fst_rdd *right, fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        fst_rdd *sides[] = {left, right};
        fst_rdd *rdd = rdd_new_of(left->sc, RDD_CARTESIAN, fst_type_pair(left->type, right->type), sides, 2, site);
        rdd_check_columns(rdd);
        rdd_depend_narrowly(rdd, false);
        rdd->lineage.deps[0].needs = cartesian_left_needs;
        rdd->lineage.deps[1].needs = cartesian_right_needs;
        return rdd;
}

static int cartesian_plan(fst_rdd *rdd)
{
        int64_t n = (int64_t)rdd->parents[0]->lineage.partitions * rdd->parents[1]->lineage.partitions;
        if (n > INT_MAX)
                rdd_fail(rdd, -EINVAL, "cartesian has too many partitions: coalesce one of its RDDs first");
        rdd->lineage.partitions = (int)MIN(n, INT_MAX);
        return rdd->status;
}

static int cartesian_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                            struct fst_error *error)
{
        int64_t n = (int64_t)rdd->parents[0]->lineage.partitions * rdd->parents[1]->lineage.partitions;
        if (n != rdd->lineage.partitions)
                return rdd_wire_bad(rdd, error, "its partitions do not match its parents'");
        return rdd_wire_check_columns(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct cartesian_op {
        struct op op;
        struct spillable_rows right;
        fst_batch batch; /* current right rows */
        bool whole;      /* `batch` has all right rows */
};

static struct cartesian_op *cartesian_of(struct op *op)
{
        return container_of(op, struct cartesian_op, op);
}

static void cartesian_put(fst_column to, uint32_t at, fst_column from, uint32_t row, uint8_t kind, uint32_t size)
{
        if (kind == FST_KIND_BYTES)
                to.bytes[at] = from.bytes[row];
        else if (kind == FST_KIND_FIXED)
                memcpy(to.fixed + (size_t)at * size, from.fixed + (size_t)row * size, size);
        else
                to.i64[at] = from.i64[row];
}

/* Pairs left row @row with the current right rows. */
static int cartesian_pair_row(struct cartesian_op *self, const fst_batch *left, uint32_t row)
{
        struct op *op = &self->op;
        fst_type t = op->type;
        for (uint32_t i = 0; i < self->batch.rows; i++) {
                if (op->out.rows == FST_BATCH_ROWS && op_flush(op))
                        return op->status;
                cartesian_put(op->out.key, op->out.rows, left->key, row, t.key, t.key_size);
                cartesian_put(op->out.value, op->out.rows, self->batch.key, i, t.value, t.value_size);
                op->out.rows++;
        }
        return op->status;
}

/* Pairs left row @row with all right rows, read from the start. Pushes its output before the batch that it views is
 * released. */
static int cartesian_pair_all(struct cartesian_op *self, const fst_batch *left, uint32_t row)
{
        int r = spillable_rows_read(&self->right);
        while (r == 0 && (r = spillable_rows_next(&self->right, &self->batch)) == 0 && self->batch.rows > 0) {
                if (task_run_stopped(self->op.run))
                        return task_run_cancelled(self->op.run);
                r = cartesian_pair_row(self, left, row);
                if (r == 0)
                        r = op_flush(&self->op);
        }
        return r;
}

static int cartesian_consume(struct op *op, const struct rows *in)
{
        struct cartesian_op *self = cartesian_of(op);
        int r = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows && r == 0; i++)
                r = self->whole ? cartesian_pair_row(self, &in->batch, i) : cartesian_pair_all(self, &in->batch, i);
        return r ? r : op_input_done(op);
}

static void cartesian_abandon(struct op *op)
{
        spillable_rows_reset(&cartesian_of(op)->right);
}

static int cartesian_end(struct op *op)
{
        int r = op_flush(op);
        cartesian_abandon(op);
        return r;
}

static void cartesian_free(struct op *op)
{
        struct cartesian_op *self = cartesian_of(op);
        spillable_rows_deinit(&self->right);
        op_deinit(op);
        free(self);
}

static const struct op_class cartesian_op_class = {"cartesian", .consume = cartesian_consume, .end = cartesian_end,
                                                   .abandon = cartesian_abandon, .free = cartesian_free};

static struct op *cartesian_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct cartesian_op *self = new0(struct cartesian_op);
        op_init(&self->op, &cartesian_op_class, run, rdd->type);
        op_alloc_out(&self->op, rdd->type);
        spillable_rows_init(&self->right, run, rdd->parents[1]->type);
        return &self->op;
}

/* Reads the first batch of right rows, and finds out whether it has all of them. */
static int cartesian_read_right(struct cartesian_op *self)
{
        fst_batch more = {0};
        int r = spillable_rows_read(&self->right);
        if (r == 0)
                r = spillable_rows_next(&self->right, &self->batch);
        if (r == 0 && self->batch.rows > 0)
                r = spillable_rows_next(&self->right, &more);
        self->whole = more.rows == 0;
        if (r == 0 && self->whole)
                r = spillable_rows_read(&self->right);
        return r || !self->whole ? r : spillable_rows_next(&self->right, &self->batch);
}

static int cartesian_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct cartesian_op *self = cartesian_of(node->op);
        int m = cartesian_right_partitions(&node->rdd->lineage);
        int r = op_begin(&self->right.op);
        if (r == 0)
                r = node_feed_parent(node, 1, partition % m, &self->right.op);
        if (r == 0)
                r = cartesian_read_right(self);
        if (r || self->batch.rows == 0)
                return r;
        return node_feed_parent(node, 0, partition / m, to);
}

const struct rdd_class rdd_cartesian_class = {
        .spark = "CartesianRDD",
        .parents = 2,
        .plan = cartesian_plan,
        .decode = cartesian_decode,
        .op_new = cartesian_op_new,
        .feed = cartesian_feed,
};
