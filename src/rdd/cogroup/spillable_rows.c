/* See spillable_rows.h. */
#include "rdd/cogroup/spillable_rows.h"

#include "base/mem.h"

static struct spillable_rows *spillable_rows_of(struct op *op)
{
        return container_of(op, struct spillable_rows, op);
}

static int spillable_rows_begin(struct op *op)
{
        struct spillable_rows *a = spillable_rows_of(op);
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_start(a->buffer, task_run_memory(op->run), op->run->spill, op->type, &error);
        a->started = r == 0;
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int spillable_rows_consume(struct op *op, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = row_buffer_add(spillable_rows_of(op)->buffer, &in->batch, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static const struct op_class aside_class = {"rows set aside", .begin = spillable_rows_begin,
                                            .consume = spillable_rows_consume};

void spillable_rows_init(struct spillable_rows *a, struct task_run *run, fst_type type)
{
        op_init(&a->op, &aside_class, run, type);
        a->buffer = row_buffer_new();
}

void spillable_rows_deinit(struct spillable_rows *a)
{
        spillable_rows_reset(a);
        row_buffer_free(a->buffer);
        op_deinit(&a->op);
}

int spillable_rows_read(struct spillable_rows *a)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_read(a->buffer, &error);
        return r ? task_run_fail_with(a->op.run, r, &error) : 0;
}

int spillable_rows_next(struct spillable_rows *a, fst_batch *batch)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_next(a->buffer, batch, &error);
        return r ? task_run_fail_with(a->op.run, r, &error) : 0;
}

void spillable_rows_reset(struct spillable_rows *a)
{
        if (!a->started)
                return;
        a->op.run->counters.disk_spilled += (int64_t)row_buffer_spilled(a->buffer);
        row_buffer_reset(a->buffer);
        a->started = false;
}
