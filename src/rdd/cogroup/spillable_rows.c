/* See spillable_rows.h. */
#include "rdd/cogroup/spillable_rows.h"

#include "base/mem.h"

static struct rows_aside *aside_of(struct op *op)
{
        return container_of(op, struct rows_aside, op);
}

static int aside_begin(struct op *op)
{
        struct rows_aside *a = aside_of(op);
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_start(a->buffer, task_run_memory(op->run), op->run->spill, op->type, &error);
        a->started = r == 0;
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int aside_consume(struct op *op, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = row_buffer_add(aside_of(op)->buffer, &in->batch, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static const struct op_class aside_class = {"rows set aside", .begin = aside_begin, .consume = aside_consume};

void rows_aside_init(struct rows_aside *a, struct task_run *run, fst_type type)
{
        op_init(&a->op, &aside_class, run, type);
        a->buffer = row_buffer_new();
}

void rows_aside_deinit(struct rows_aside *a)
{
        rows_aside_reset(a);
        row_buffer_free(a->buffer);
        op_deinit(&a->op);
}

int rows_aside_read(struct rows_aside *a)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_read(a->buffer, &error);
        return r ? task_run_fail_with(a->op.run, r, &error) : 0;
}

int rows_aside_next(struct rows_aside *a, fst_batch *batch)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = row_buffer_next(a->buffer, batch, &error);
        return r ? task_run_fail_with(a->op.run, r, &error) : 0;
}

void rows_aside_reset(struct rows_aside *a)
{
        if (!a->started)
                return;
        a->op.run->counters.disk_spilled += (int64_t)row_buffer_spilled(a->buffer);
        row_buffer_reset(a->buffer);
        a->started = false;
}
