/*
 * Lets a function pull rows from an engine that pushes them; see op_iter.h.
 *
 * The function starts with the partition and gets its first batch when one arrives. `consume` lends it a batch and
 * returns when the function asks for the next one, so the batch stays valid while the function reads it. If the
 * function returns early, consume returns OP_ENOUGH. If the partition is abandoned, the function sees the end of its
 * rows and must return.
 */
#include "rdd/pipeline/op_iter.h"

#include "base/coroutine.h"
#include "base/mem.h"
#include "rdd/pipeline/struct_view.h"

/* User code may have large frames. Untouched pages cost nothing. */
#define STACK_SIZE ((size_t)8 << 20)

struct iter_op {
        struct op op;
        fst_fn fn;
        struct struct_view view;
        fst_iter iter;
        struct coroutine *coroutine;
        const struct rows *lent;
        bool started;  /* in this partition */
        bool finished; /* the function returned */
        bool at_end;   /* the input is complete */
        int result;
};

static struct iter_op *iter_of(struct op *op)
{
        return container_of(op, struct iter_op, op);
}

static bool iter_op_refill(fst_iter *iter)
{
        struct iter_op *self = container_of(iter, struct iter_op, iter);
        iter->batch.rows = 0;
        iter->at = 0;
        if (self->at_end)
                return false;
        /* Rows made so far may point into the batch that ends now. Later rows may not. */
        int r = op_flush(&self->op);
        op_borrow(&self->op, &(struct rows){0});
        if (r)
                return false;
        const void *captured = self->op.run->task.captured;
        const char *function = self->op.run->function;
        self->lent = NULL;
        coroutine_yield(self->coroutine);
        self->op.run->task.captured = captured;
        task_run_leave(self->op.run, function);
        if (!self->lent)
                return false;
        op_borrow(&self->op, self->lent);
        const struct rows *seen = struct_view_rows(&self->view, self->op.run, self->lent);
        if (unlikely(!seen)) {
                iter->status = self->op.run->status;
                return false;
        }
        iter->batch = seen->batch;
        return true;
}

static void iter_op_body(void *arg)
{
        struct iter_op *self = arg;
        fst_task *task = &self->op.run->task;
        task->captured = self->fn.captured;
        task_run_leave(self->op.run, self->fn.name);
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_ITER_AT) {
                int (*f)(fst_task *, int, fst_iter *, fst_out *) =
                        (int (*)(fst_task *, int, fst_iter *, fst_out *))self->fn.code;
                self->result = f(task, self->op.partition, &self->iter, &self->op.out);
        } else if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_EACH_ITER) {
                int (*f)(fst_task *, fst_iter *) = (int (*)(fst_task *, fst_iter *))self->fn.code;
                self->result = f(task, &self->iter);
        } else {
                int (*f)(fst_task *, fst_iter *, fst_out *) = (int (*)(fst_task *, fst_iter *, fst_out *))self->fn.code;
                self->result = f(task, &self->iter, &self->op.out);
        }
        self->finished = true;
}

/* Runs the function until it needs rows or returns. */
static int iter_op_resume(struct iter_op *self)
{
        struct task_run *run = self->op.run;
        const char *outer = run->function;
        if (self->started) {
                coroutine_resume(self->coroutine);
        } else {
                self->started = true;
                coroutine_start(self->coroutine, iter_op_body, self);
        }
        task_run_leave(run, outer);
        if (self->finished && self->result)
                return task_run_fail_by(run, self->result, self->fn.name);
        if (run->status)
                return run->status;
        return self->op.status;
}

static int iter_begin(struct op *op)
{
        struct iter_op *self = iter_of(op);
        self->started = self->finished = self->at_end = false;
        self->result = 0;
        self->lent = NULL;
        self->iter.batch = (fst_batch){.type = self->iter.batch.type};
        self->iter.at = 0;
        self->iter.status = 0;
        op_borrow(op, &(struct rows){0});
        return iter_op_resume(self);
}

static int iter_consume(struct op *op, const struct rows *in)
{
        struct iter_op *self = iter_of(op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        if (!self->finished) {
                self->lent = in;
                int r = iter_op_resume(self);
                if (r)
                        return r;
        }
        if (!self->finished)
                return 0;
        int r = op_flush(op);
        return r ? r : OP_ENOUGH;
}

static int iter_end(struct op *op)
{
        struct iter_op *self = iter_of(op);
        self->at_end = true;
        while (!self->finished) {
                self->lent = NULL;
                int r = iter_op_resume(self);
                if (r && self->finished)
                        return r;
        }
        return op->run->status ? op->run->status : op->status;
}

static void iter_abandon(struct op *op)
{
        struct iter_op *self = iter_of(op);
        if (!op->status)
                op->status = OP_ENOUGH; /* drops further emits */
        self->at_end = true;
        while (self->started && !self->finished) {
                self->lent = NULL;
                iter_op_resume(self);
        }
}

static void iter_free(struct op *op)
{
        struct iter_op *self = iter_of(op);
        coroutine_free(self->coroutine);
        struct_view_deinit(&self->view);
        op_deinit(op);
        free(self);
}

static const struct op_class iter_class = {
        "map_partitions", .begin = iter_begin,     .consume = iter_consume,
        .end = iter_end,  .abandon = iter_abandon, .free = iter_free,
};

struct op *iter_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn)
{
        struct iter_op *self = new0(struct iter_op);
        op_init(&self->op, &iter_class, run, out);
        op_alloc_out(&self->op, out);
        self->fn = *fn;
        struct_view_init(&self->view, in);
        self->iter.tag = fst_type_tag(self->view.seen);
        self->iter.batch.type = self->view.seen;
        self->iter.refill = iter_op_refill;
        self->coroutine = coroutine_new(STACK_SIZE);
        return &self->op;
}
