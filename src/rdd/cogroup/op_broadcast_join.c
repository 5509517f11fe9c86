/*
 * See op_broadcast_join.h.
 *
 * A slot keeps the table from task to task, unless its rows point into the bytes of the variable, which may move. Each
 * task reserves its memory. Between tasks it is not reserved, as the index of a sorter (rdd/sort/sorter.h).
 */
#include "rdd/cogroup/op_broadcast_join.h"

#include "base/mem.h"
#include "rdd/cogroup/join_loops.h"
#include "rdd/cogroup/join_table.h"
#include "rdd/pipeline/key.h"
#include "store/memory.h"

#include <firesteel/shared.h>

#include <inttypes.h>

struct broadcast_join_op {
        struct op op;
        const struct broadcast_side *small;
        fst_fn fn;
        struct join_caller caller;
        bool lists_missing; /* rows that arrive without a match take part */
        struct memory_consumer memory;
        bool started;

        const char *data; /* the small side's bytes; its entries may point into them */
        bool made;        /* the table is that of `data` */
        struct sort_entry *entries;
        struct join_table table;

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

static void broadcast_join_drop_table(struct broadcast_join_op *self)
{
        free(steal(self->entries));
        join_table_free(&self->table);
        self->made = false;
}

/* Reads a record of at most @room bytes. Returns false if it is longer. */
static bool broadcast_record_read(fst_type type, const unsigned char *at, size_t room, struct record_view *record)
{
        const size_t lengths = (type.key == FST_KIND_BYTES ? 4 : 0) + (type.value == FST_KIND_BYTES ? 4 : 0);
        if (room < lengths)
                return false;
        *record = record_read(type, at);
        return room - lengths >= (uint64_t)record->key_len + record->value_len;
}

/* Makes the entries of all rows. */
static int broadcast_join_read_rows(struct broadcast_join_op *self)
{
        const struct broadcast_side *small = self->small;
        const struct record_order order = record_order(small->type, FST_ASCENDING);
        const bool whole = sort_index_holds(small->type);
        const unsigned char *at = (const unsigned char *)self->data, *end = at + small->size;
        for (uint64_t i = 0; i < small->rows; i++) {
                struct sort_entry *entry = &self->entries[i];
                struct record_view r;
                if (!broadcast_record_read(small->type, at, (size_t)(end - at), &r))
                        return task_run_fail(self->op.run, -EBADMSG,
                                             "broadcast variable %" PRId64 " ends within row %" PRIu64
                                             " of the small side of a join",
                                             small->variable, i);
                entry->prefix = order.by_bytes ? key_hash_bytes((const char *)r.key, r.key_len)
                                               : record_prefix(&order, &r, (size_t)(end - r.key));
                entry->record = at;
                if (whole) {
                        entry->value = 0;
                        memcpy(&entry->value, r.value, r.value_len);
                }
                at = record_end(&r);
        }
        return 0;
}

static int broadcast_join_make_table(struct broadcast_join_op *self)
{
        const struct broadcast_side *small = self->small;
        const size_t rows = (size_t)small->rows;
        broadcast_join_drop_table(self);
        self->entries = mem_try((rows + 1) * sizeof(*self->entries));
        if (!self->entries || !join_table_alloc(&self->table, rows))
                return task_run_fail(self->op.run, -ENOMEM, "no memory for the %zu rows of the small side of a join",
                                     rows);
        int r = broadcast_join_read_rows(self);
        if (r)
                return r;
        join_table_build(&self->table, join_key_of(small->type),
                         (struct join_rows){self->entries, (uint32_t)rows, small->type, NULL}, 0);
        self->made = true;
        return 0;
}

static int broadcast_join_reserve(struct broadcast_join_op *self)
{
        const size_t rows = (size_t)self->small->rows;
        size_t bytes = rows * sizeof(*self->entries) + join_table_bytes(rows);
        memory_consumer_init(&self->memory, task_run_memory(self->op.run), "broadcast join", NULL);
        self->started = true;
        int r = memory_acquire_wait(&self->memory, bytes);
        if (r == FST_MEMORY_E_DENIED)
                return task_run_fail(self->op.run, -ENOMEM,
                                     "the table of a broadcast join needs %zu bytes for %zu rows, more than a task's "
                                     "share: raise spark.executor.memory (spark.driver.memory in local mode), or use "
                                     "fst_join with spark.firesteel.join.broadcastThreshold=0",
                                     bytes, rows);
        return r < 0 ? task_run_check(self->op.run) : 0;
}

static int broadcast_join_begin(struct op *op)
{
        struct broadcast_join_op *self = broadcast_join_of(op);
        const struct broadcast_side *small = self->small;
        int r = broadcast_join_reserve(self);
        if (r)
                return r;
        const char *data = "";
        if (small->rows)
                data = fst_task_broadcast(&op->run->task, (fst_broadcast){small->variable, small->size}).data;
        if (!data)
                return task_run_check(op->run);
        if (self->made && (data == self->data || sort_index_holds(small->type)))
                return 0;
        self->data = data;
        return broadcast_join_make_table(self);
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
        fst_batch found = join_rows_gather(&self->table.rows, &self->columns[side], side == JOIN_LEFT, s->pairs.built,
                                           s->pairs.n);
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
        join_search_start(s, &self->table, join_rows_of_batch(batch, self->arriving), room, self->lists_missing);
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
        self->started = false;
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
        broadcast_join_drop_table(self);
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
