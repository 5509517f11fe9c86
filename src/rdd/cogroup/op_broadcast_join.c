/*
 * See op_broadcast_join.h.
 *
 * The slots of a process share the table (broadcast_table.h) and keep it from task to task, unless its rows point into
 * the bytes of the variable, which may move. If storage has no room for it, each task reserves its memory.
 */
#include "rdd/cogroup/op_broadcast_join.h"

#include "base/mem.h"
#include "rdd/cogroup/broadcast_table.h"
#include "rdd/cogroup/join_loops.h"
#include "rdd/cogroup/join_probe.h"
#include "store/memory.h"

#include <firesteel/shared.h>

struct broadcast_join_op {
        struct op op;
        const struct broadcast_side *small;
        fst_fn fn;
        struct join_caller caller;
        struct memory_consumer memory;
        bool started;
        bool shares; /* the table's reservation */
        struct broadcast_table *table;
        struct join_probe probe;
};

bool broadcast_join_fits(enum cogroup_mode mode, enum join_side small)
{
        return mode == COGROUP_JOIN || mode == (small == JOIN_RIGHT ? COGROUP_LEFT_JOIN : COGROUP_RIGHT_JOIN);
}

static struct broadcast_join_op *broadcast_join_of(struct op *op)
{
        return container_of(op, struct broadcast_join_op, op);
}

/* -------------------------------------------------------------------------------------------------- the small side */

/* Reserves memory for the table. */
static int broadcast_join_reserve(struct broadcast_join_op *self)
{
        const size_t bytes = self->table->bytes;
        self->shares = broadcast_table_reserve(self->table);
        if (self->shares)
                return 0;
        memory_consumer_init(&self->memory, task_run_memory(self->op.run), "broadcast join", NULL);
        self->started = true;
        int r = memory_acquire_wait(&self->memory, bytes);
        if (r == FST_MEMORY_E_DENIED)
                return task_run_fail(self->op.run, -ENOMEM,
                                     "the table of a broadcast join needs %zu bytes for %zu rows, more than a task's "
                                     "share: raise spark.executor.memory (spark.driver.memory in local mode), or use "
                                     "fst_join with spark.firesteel.join.broadcastThreshold=0",
                                     bytes, (size_t)self->small->rows);
        return r < 0 ? task_run_check(self->op.run) : 0;
}

static int broadcast_join_begin(struct op *op)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        const struct broadcast_side *small = self->small;
        const char *data = "";
        if (small->rows)
                data = fst_task_broadcast(&op->run->task, (fst_broadcast){small->variable, small->size}).data;
        if (!data)
                return task_run_check(op->run);
        if (self->table && !broadcast_table_is_of(self->table, small, data))
                broadcast_table_unref(steal(self->table));
        if (!self->table)
                self->table = broadcast_table_ref(op->run->memory_manager, small, data);
        int r = broadcast_join_reserve(self);
        return r ? r : broadcast_table_build(self->table, op->run, small, data);
}

/* ------------------------------------------------------------------------------------------------- rows that arrive */

static int broadcast_join_call(void *owner, const fst_batch *left, const fst_batch *right, uint32_t n)
{
        struct broadcast_join_op *self = owner;
        if (task_run_stopped(self->op.run))
                return task_run_cancelled(self->op.run);
        return join_caller_call(&self->caller, &self->op, &self->fn, left, 0, 1, right, 0, n);
}

static int broadcast_join_consume(struct op *op, const struct rows *in)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        struct task_run *run = op->run;
        const void *captured = run->task.captured;
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        op_borrow(op, in);
        int r = join_probe_batch(&self->probe, &self->table->table, &in->batch, broadcast_join_call, self);
        task_run_leave(run, outer);
        run->task.captured = captured;
        return r ? r : op_input_done(op);
}

/* ------------------------------------------------------------------------------------------------------ the operator
 */

static void broadcast_join_abandon(struct op *op)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        if (self->started)
                memory_consumer_deinit(&self->memory);
        if (self->shares)
                broadcast_table_release(self->table);
        self->started = self->shares = false;
}

static int broadcast_join_end(struct op *op)
{
        int r = op_flush(op);
        broadcast_join_abandon(op);
        return r;
}

static void broadcast_join_free(struct op *op)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        broadcast_join_abandon(op);
        broadcast_table_unref(self->table);
        join_probe_deinit(&self->probe);
        join_caller_deinit(&self->caller);
        op_deinit(op);
        free(self);
}

static const struct op_class broadcast_join_class = {
        "broadcast_join",          .begin = broadcast_join_begin,     .consume = broadcast_join_consume,
        .end = broadcast_join_end, .abandon = broadcast_join_abandon, .free = broadcast_join_free};

struct op *broadcast_join_op_new(struct task_run *run, enum cogroup_mode mode, fst_type type,
                                 const struct broadcast_side *small, fst_type out, const fst_fn *fn)
{
        struct broadcast_join_op *self = new0(struct broadcast_join_op);
        op_init(&self->op, &broadcast_join_class, run, out);
        op_alloc_out(&self->op, out);
        self->small = small;
        self->fn = *fn;
        const bool is_right = small->side == JOIN_RIGHT;
        const fst_type left = is_right ? type : small->type, right = is_right ? small->type : type;
        join_caller_init(&self->caller, fn, left, right);
        join_probe_start(&self->probe, left, right, small->side, mode != COGROUP_JOIN);
        return &self->op;
}
