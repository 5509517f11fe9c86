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
#include "store/memory.h"

#include <firesteel/shared.h>

struct broadcast_join_op {
        struct op op;
        const struct broadcast_side *small;
        fst_fn fn;
        struct join_caller caller;
        bool lists_missing; /* rows that arrive without a match take part */
        struct memory_consumer memory;
        bool started;
        bool shares; /* the table's reservation */
        struct broadcast_table *table;

        struct sort_entry arriving[FST_BATCH_ROWS];
        struct join_search search;
        struct columns columns[2];
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

static int broadcast_join_call(struct broadcast_join_op *self, const fst_batch *arriving, const fst_batch *small,
                               uint32_t n)
{
        const bool is_right = self->small->side == JOIN_RIGHT;
        return join_caller_call(&self->caller, &self->op, &self->fn, is_right ? arriving : small, 0, 1,
                                is_right ? small : arriving, 0, n);
}

static int broadcast_join_call_pairs(struct broadcast_join_op *self)
{
        const struct join_search *s = &self->search;
        const enum join_side side = self->small->side;
        fst_batch found = join_rows_gather(&self->table->table.rows, &self->columns[side], side == JOIN_LEFT,
                                           s->pairs.built, s->pairs.n);
        fst_batch arriving =
                join_rows_gather(&s->rows, &self->columns[!side], side == JOIN_RIGHT, s->pairs.probing, s->pairs.n);
        return broadcast_join_call(self, &arriving, &found, s->pairs.n);
}

static int broadcast_join_call_missing(struct broadcast_join_op *self)
{
        const struct join_search *s = &self->search;
        fst_batch arriving =
                join_rows_gather(&s->rows, &self->columns[!self->small->side], true, s->missing.probing, s->missing.n);
        fst_batch none = {.rows = s->missing.n, .type = self->small->type, .key = arriving.key};
        return broadcast_join_call(self, &arriving, &none, s->missing.n);
}

static int broadcast_join_search(struct broadcast_join_op *self, const fst_batch *batch)
{
        struct join_search *s = &self->search;
        const uint32_t room = MIN(self->columns[JOIN_LEFT].room, self->columns[JOIN_RIGHT].room);
        int r = 0;
        join_search_start(s, &self->table->table, join_rows_of_batch(batch, self->arriving), room, self->lists_missing);
        while (r == 0 && join_search_next(s)) {
                if (task_run_stopped(self->op.run))
                        return task_run_cancelled(self->op.run);
                if (s->pairs.n)
                        r = broadcast_join_call_pairs(self);
                if (s->missing.n && r == 0)
                        r = broadcast_join_call_missing(self);
        }
        return r;
}

static int broadcast_join_consume(struct op *op, const struct rows *in)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        struct task_run *run = op->run;
        const void *captured = run->task.captured;
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        op_borrow(op, in);
        int r = broadcast_join_search(self, &in->batch);
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
        columns_deinit(&self->columns[JOIN_LEFT]);
        columns_deinit(&self->columns[JOIN_RIGHT]);
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
        join_caller_init(&self->caller, fn, is_right ? type : small->type, is_right ? small->type : type);
        self->lists_missing = mode != COGROUP_JOIN;
        columns_start(&self->columns[small->side], small->type);
        columns_start(&self->columns[!small->side], type);
        return &self->op;
}
