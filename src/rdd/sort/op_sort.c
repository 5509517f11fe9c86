/* See op_sort.h. */
#include "rdd/sort/op_sort.h"

#include "base/mem.h"
#include "rdd/sort/sorter.h"

struct sort_op {
        struct op op;
        enum fst_order order;
        struct sorter *sorter;
        bool started;
};

static int sort_begin(struct op *op)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        struct fst_error error = FST_ERROR_INIT;
        int r = sorter_start(self->sorter,
                             &(struct sorter_options){.memory = task_run_memory(op->run),
                                                      .type = op->type,
                                                      .order = self->order,
                                                      .is_read_once = true,
                                                      .spill = op->run->spill},
                             &error);
        self->started = r == 0;
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int sort_consume(struct op *op, const struct rows *in)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = sorter_add_batch(self->sorter, &in->batch, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int sort_borrow(struct op *op, const struct page *page, struct page_loan *loan)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = sorter_borrow_page(self->sorter, page, loan, &error);
        return r < 0 ? task_run_fail_with(op->run, r, &error) : r ? OP_NOT_BORROWED : 0;
}

static int sort_end(struct op *op)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        int r = sorter_finish(self->sorter, &error);
        while (r == 0 && (r = sorter_next(self->sorter, &rows.batch, &error)) == 0 && rows.batch.rows > 0)
                r = op_push(op, &rows);
        if (r < 0 && !op->run->status)
                task_run_fail_with(op->run, r, &error);
        struct sorter_stats stats = sorter_stats(self->sorter);
        op->run->counters.disk_spilled += (int64_t)stats.spilled_bytes;
        op->class->abandon(op);
        return r;
}

static void sort_abandon(struct op *op)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        if (self->started)
                sorter_reset(self->sorter);
        self->started = false;
}

static void sort_free(struct op *op)
{
        struct sort_op *self = container_of(op, struct sort_op, op);
        sorter_free(self->sorter);
        op_deinit(op);
        free(self);
}

static const struct op_class sort_class = {
        "sort_by_key",   .begin = sort_begin,     .consume = sort_consume, .borrow = sort_borrow,
        .end = sort_end, .abandon = sort_abandon, .free = sort_free,
};

struct op *sort_op_new(struct task_run *run, fst_type type, enum fst_order order)
{
        struct sort_op *self = new0(struct sort_op);
        op_init(&self->op, &sort_class, run, type);
        self->order = order;
        self->sorter = sorter_new();
        return &self->op;
}
