/* zip_partitions: a function that reads the partitions of several RDDs together. All rows are collected before the
 * call. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/cogroup/spillable_rows.h"
#include "rdd/pipeline/struct_view.h"

#include "base/mem.h"

#define MAX_PARTS 64

static fst_rdd *zip_partitions_rdd_new(fst_context *sc, fst_rdd *const *rdds, size_t n, const fst_fn *f, fst_type type,
                                       uint32_t form, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *rdd = rdd_new_of(sc, RDD_ZIPPED_PARTITIONS, type, rdds, (int)MIN(n, (size_t)MAX_PARTS), site);
        if (n == 0 || n > MAX_PARTS) {
                error_set(&error, -EINVAL, "zip_partitions takes 1 to %d RDDs, not %zu", MAX_PARTS, n);
                return rdd_fail_with(rdd, -EINVAL, &error);
        }
        rdd_check_context(rdd);
        rdd_set_fn(rdd, f);
        rdd_depend_narrowly(rdd, false);
        if (FST_SHAPE_FORM(f->shape) != form) {
                error_set(&error, -EINVAL,
                          "%s is not a function that zip_partitions can call: that takes %s, and where to emit",
                          rdd->fn.name, form == FST_FORM_ITER_2 ? "two iterators" : "an array of iterators");
                return rdd_fail_with(rdd, -EINVAL, &error);
        }
        return rdd;
}

FST_API fst_rdd *fst_zip_partitions_at(fst_rdd *a, fst_rdd *b, fst_fn f, fst_type type, fst_site site)
{
        a = rdd_given(a, site);
        b = rdd_given(b, site);
        return zip_partitions_rdd_new(a->sc, (fst_rdd *const[]){a, b}, 2, &f, type, FST_FORM_ITER_2, site);
}

FST_API fst_rdd *fst_zip_partitions_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_fn f, fst_type type,
                                           fst_site site)
{
        fst_rdd *missing = rdd_first_given(rdds, n, site);
        if (missing)
                return missing;
        sc = context_given(sc, site);
        return zip_partitions_rdd_new(sc, rdds, n, &f, type, FST_FORM_ITER_ALL, site);
}

static int zip_partitions_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                                 struct fst_error *error)
{
        uint32_t form = FST_SHAPE_FORM(rdd->fn.shape);
        if (rdd->n_parents > MAX_PARTS || (form == FST_FORM_ITER_2 ? rdd->n_parents != 2 : form != FST_FORM_ITER_ALL))
                return rdd_wire_bad(rdd, error, "its function takes another number of iterators");
        return rdd_wire_check_partitions(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

/* The rows of a parent, for the function's iterator. */
struct zip_side {
        struct spillable_rows rows;
        struct struct_view view;
        fst_iter iter;
};

struct zip_partitions_op {
        struct op op;
        fst_fn fn;
        struct zip_side *parts;
        int n;
};

static struct zip_partitions_op *zip_partitions_of(struct op *op)
{
        return container_of(op, struct zip_partitions_op, op);
}

static bool zip_partitions_refill(fst_iter *iter)
{
        struct zip_side *part = container_of(iter, struct zip_side, iter);
        struct op *out = container_of(iter, struct zip_side, iter)->rows.op.next;
        iter->at = 0;
        iter->batch.rows = 0;
        /* Emitted rows may view the batch that is released now. */
        if (op_flush(out))
                return false;
        if (task_run_stopped(out->run)) {
                iter->status = task_run_cancelled(out->run);
                return false;
        }
        struct rows rows = {0};
        iter->status = spillable_rows_next(&part->rows, &rows.batch);
        if (iter->status || rows.batch.rows == 0)
                return false;
        const struct rows *seen = struct_view_rows(&part->view, out->run, &rows);
        if (unlikely(!seen)) {
                iter->status = out->run->status;
                return false;
        }
        iter->batch = seen->batch;
        return true;
}

static int zip_partitions_call(struct zip_partitions_op *self)
{
        fst_task *task = &self->op.run->task;
        fst_iter *iters[MAX_PARTS];
        for (int i = 0; i < self->n; i++)
                iters[i] = &self->parts[i].iter;
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_ITER_2) {
                int (*f)(fst_task *, fst_iter *, fst_iter *, fst_out *) =
                        (int (*)(fst_task *, fst_iter *, fst_iter *, fst_out *))self->fn.code;
                return f(task, iters[0], iters[1], &self->op.out);
        }
        int (*f)(fst_task *, fst_iter *const *, fst_out *) =
                (int (*)(fst_task *, fst_iter *const *, fst_out *))self->fn.code;
        return f(task, iters, &self->op.out);
}

/*
 * Fails the task if the function passed fst_next variables of another type than the rows'.
 *
 */
static int zip_partitions_check_read(const struct zip_partitions_op *self, const fst_iter *iter)
{
        char have[64];
        if (!iter->status)
                return 0;
        return task_run_fail(self->op.run, iter->status,
                             "%s reads rows that are %s with fst_next into variables of another type", self->fn.name,
                             fst_tag_name(iter->tag, have));
}

static int zip_partitions_end(struct op *op)
{
        struct zip_partitions_op *self = zip_partitions_of(op);
        struct task_run *run = op->run;
        int r = 0;
        for (int i = 0; i < self->n && r == 0; i++) {
                struct zip_side *part = &self->parts[i];
                part->iter.batch = (fst_batch){.type = part->view.seen};
                part->iter.at = 0;
                part->iter.status = 0;
                r = spillable_rows_read(&part->rows);
        }
        if (r == 0) {
                run->task.captured = self->fn.captured;
                const char *outer = task_run_enter(run, self->fn.name);
                op_borrow(op, &(struct rows){0});
                int status = zip_partitions_call(self);
                task_run_leave(run, outer);
                r = status ? task_run_fail_by(run, status, self->fn.name) : run->status;
        }
        for (int i = 0; i < self->n && r == 0; i++)
                r = zip_partitions_check_read(self, &self->parts[i].iter);
        if (r == 0)
                r = op_flush(op);
        op->class->abandon(op);
        return r;
}

static void zip_partitions_abandon(struct op *op)
{
        struct zip_partitions_op *self = zip_partitions_of(op);
        for (int i = 0; i < self->n; i++)
                spillable_rows_reset(&self->parts[i].rows);
}

static void zip_partitions_free(struct op *op)
{
        struct zip_partitions_op *self = zip_partitions_of(op);
        for (int i = 0; i < self->n; i++) {
                spillable_rows_deinit(&self->parts[i].rows);
                struct_view_deinit(&self->parts[i].view);
        }
        free(self->parts);
        op_deinit(op);
        free(self);
}

static const struct op_class zip_op_class = {"zip_partitions", .end = zip_partitions_end,
                                             .abandon = zip_partitions_abandon, .free = zip_partitions_free};

static struct op *zip_partitions_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct zip_partitions_op *self = new0(struct zip_partitions_op);
        op_init(&self->op, &zip_op_class, run, rdd->type);
        op_alloc_out(&self->op, rdd->type);
        self->fn = rdd->fn;
        self->n = rdd->n_parents;
        self->parts = new_array(struct zip_side, (size_t)self->n);
        for (int i = 0; i < self->n; i++) {
                struct zip_side *part = &self->parts[i];
                spillable_rows_init(&part->rows, run, rdd->parents[i]->type);
                struct_view_init(&part->view, rdd->parents[i]->type);
                part->rows.op.next = &self->op;
                part->iter.tag = fst_type_tag(part->view.seen);
                part->iter.refill = zip_partitions_refill;
        }
        return &self->op;
}

static int zip_partitions_feed(struct pipeline_node *node, int partition, struct op *to)
{
        struct zip_partitions_op *self = zip_partitions_of(node->op);
        int r = 0;
        for (int i = 0; i < self->n && r == 0; i++) {
                r = op_begin(&self->parts[i].rows.op);
                if (r == 0)
                        r = node_feed_parent(node, i, partition, &self->parts[i].rows.op);
        }
        return r;
}

const struct rdd_class rdd_zipped_partitions_class = {
        .spark = "ZippedPartitionsRDD2",
        .parents = RDD_ANY_PARENTS,
        .wants_function = true,
        .plan = rdd_plan_alike,
        .decode = zip_partitions_decode,
        .op_new = zip_partitions_op_new,
        .feed = zip_partitions_feed,
};
