/*
 * Lists: the mode of a cogroup that makes a pair of each key and its values, encoded as bytes (firesteel/list.h).
 *
 * The lists of a batch are contiguous in one buffer, which is reserved and grows, so that values are copied once. In
 * `out` the pointers to lists are offsets until the batch is pushed. Keys of rows are views into the side as long as
 * its rows stay in memory. Otherwise they are copied before their list.
 *
 * As in Spark's groupByKey, the values of one key must fit into memory. When other tasks end there is more memory, so
 * the task waits for them instead of failing. Sorted sides cannot free memory. Therefore, if a list may need it (there
 * are more rows than half of the task's memory holds), the sides first write all rows to disk. The memory that lists
 * may take, at most half of the task's, is reserved while the sides are sorted.
 */
#include "base/error.h"
#include "base/mem.h"
#include "rdd/cogroup/cogroup_mode.h"
#include "rdd/pipeline/columns.h"
#include "rdd/sort/sorter.h"

#include <limits.h>

#define MIN_ROOM ((size_t)64 << 10)
#define PUSH_AT ((size_t)1 << 20) /* a batch is pushed when its lists have this many bytes */
#define RESERVED 2                /* the divisor of the task's memory that is reserved: one half */
#define MAX_LIST ((size_t)INT_MAX)

static int lists_push(struct cogroup_op *self)
{
        fst_out *out = &self->op.out;
        char *data = self->lists.data;
        bool keys = self->op.type.key == FST_KIND_BYTES && !self->in_memory;
        for (uint32_t i = 0; i < out->rows; i++) {
                out->value.bytes[i].data = data + (uintptr_t)out->value.bytes[i].data;
                if (keys)
                        out->key.bytes[i].data = data + (uintptr_t)out->key.bytes[i].data;
        }
        if (task_run_stopped(self->op.run))
                return task_run_cancelled(self->op.run);
        op_borrow(&self->op, &(struct rows){.stable[0] = {(uintptr_t)data, self->lists.used}});
        return op_flush(&self->op);
}

/* Pushes the complete rows and moves the current row to the beginning. */
static int lists_push_complete(struct cogroup_op *self)
{
        fst_type type = self->op.type;
        fst_out *out = &self->op.out;
        size_t row = self->lists.row, cell = columns_cell(type.key, type.key_size);
        uint32_t at = out->rows;
        int r = lists_push(self);
        memmove(out->key.fixed, out->key.fixed + at * cell, cell);
        memmove(self->lists.data, self->lists.data + row, self->lists.used - row);
        self->lists.used -= row;
        self->lists.row = 0;
        return r;
}

static int lists_too_large(struct cogroup_op *self)
{
        return error_set(
                &self->error, -ENOMEM,
                "the values of one key do not fit into memory (there are %zu bytes of them and more): "
                "group_by_key makes one row of them; fst_flat_map_groups reads them one after another instead. "
                "Or raise spark.executor.memory (spark.driver.memory in local mode), or run fewer tasks at a "
                "time",
                self->lists.used - self->lists.row);
}

/* Doubles the buffer. If memory is short, grows it by half of that, and so on, so that it does not grow value by value
 * while memory is left. */
static int lists_grow(struct cogroup_op *self, size_t wanted)
{
        size_t least = wanted - self->lists.room, more = MAX(self->lists.room, least);
        int r = memory_acquire(&self->lists.memory, more);
        while (r == FST_MEMORY_E_DENIED && more > least) {
                more = MAX(more / 2, least);
                r = memory_acquire(&self->lists.memory, more);
        }
        if (r == FST_MEMORY_E_DENIED)
                r = memory_acquire_wait(&self->lists.memory, least);
        if (r)
                return r < 0 ? r : lists_too_large(self);
        char *data = mem_try_grow(self->lists.data, self->lists.room + more);
        if (!data) {
                memory_release(&self->lists.memory, more);
                return lists_too_large(self);
        }
        self->lists.data = data;
        self->lists.room += more;
        return 0;
}

/* Makes room for @more bytes of the current row. */
static int lists_make_room(struct cogroup_op *self, size_t more)
{
        if (likely(self->lists.used + more <= self->lists.room))
                return 0;
        int r = self->lists.row > 0 ? lists_push_complete(self) : 0;
        if (r || self->lists.used + more <= self->lists.room)
                return r;
        if (self->lists.used + more > MAX_LIST)
                return lists_too_large(self);
        return lists_grow(self, self->lists.used + more);
}

static void lists_append(struct cogroup_op *self, const void *data, size_t len)
{
        if (len)
                memcpy(self->lists.data + self->lists.used, data, len);
        self->lists.used += len;
}

/* Appends the values @from … @to of @batch to the list. */
static int lists_append_values(struct cogroup_op *self, const fst_batch *batch, uint32_t from, uint32_t to)
{
        if (batch->type.value != FST_KIND_BYTES) {
                size_t size = batch->type.value_size, all = (to - from) * size;
                int r = lists_make_room(self, all);
                if (r == 0)
                        lists_append(self, batch->value.fixed + from * size, all);
                return r;
        }
        bool length = self->mode == COGROUP_LISTS;
        for (; from < to; from++) {
                fst_bytes value = batch->value.bytes[from];
                uint32_t len = (uint32_t)value.len;
                int r = value.len > MAX_LIST ? lists_too_large(self) : lists_make_room(self, sizeof(len) + value.len);
                if (r)
                        return r;
                if (length)
                        lists_append(self, &len, sizeof(len));
                lists_append(self, value.data, value.len);
        }
        return 0;
}

/* Begins a row with the key of the current row of @side. */
static int lists_begin_row(struct cogroup_op *self, const struct cogroup_side *side)
{
        fst_out *out = &self->op.out;
        const fst_batch *b = &side->batch;
        size_t size = b->type.key_size;
        int r = 0;
        if (out->rows == FST_BATCH_ROWS || self->lists.used >= PUSH_AT) {
                r = lists_push(self);
                self->lists.used = 0;
        }
        self->lists.row = self->lists.used;
        switch (b->type.key) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                out->key.i64[out->rows] = b->key.i64[side->at];
                return r;
        case FST_KIND_FIXED:
                memcpy(out->key.fixed + out->rows * size, b->key.fixed + side->at * size, size);
                return r;
        default: {
                fst_bytes key = b->key.bytes[side->at];
                if (!self->in_memory) {
                        r = r ? r : lists_make_room(self, key.len);
                        if (r == 0)
                                lists_append(self, key.data, key.len);
                }
                out->key.bytes[out->rows] = key;
                return r;
        }
        }
}

/* Ends the row: its list is everything added since lists_begin_row. */
static void lists_end_row(struct cogroup_op *self)
{
        fst_out *out = &self->op.out;
        size_t list = self->lists.row;
        if (self->op.type.key == FST_KIND_BYTES && !self->in_memory) {
                out->key.bytes[out->rows].data = (const char *)(uintptr_t)list;
                list += out->key.bytes[out->rows].len;
        }
        out->value.bytes[out->rows] = (fst_bytes){(const char *)(uintptr_t)list, self->lists.used - list};
        out->rows++;
        self->lists.row = self->lists.used;
}

/* True if the first row of @b, the next batch, still has the current key. */
static bool lists_key_continues(struct cogroup_op *self, const fst_batch *b)
{
        fst_out *out = &self->op.out;
        fst_type type = b->type;
        fst_batch row = {.type = type, .key = column_from(out->key, type.key, type.key_size, out->rows)};
        if (type.key == FST_KIND_BYTES && !self->in_memory) {
                self->lists.key = (fst_bytes){self->lists.data + self->lists.row, row.key.bytes[0].len};
                row.key.bytes = &self->lists.key;
        }
        return b->rows > 0 && batch_compare(b, 0, &row, 0) == 0;
}

static int lists_meet(struct cogroup_op *self, int least, uint32_t has)
{
        struct cogroup_side *side = &self->sides[least];
        const fst_batch *b = &side->batch;
        memory_release(&self->lists.memory, self->lists.reserve);
        self->lists.reserve = 0;
        int r = lists_begin_row(self, side);
        for (bool more = true; r == 0 && more;) {
                uint32_t to = batch_run_end(b, side->at);
                more = to == b->rows;
                r = lists_append_values(self, b, side->at, to);
                side->at = to;
                if (r == 0 && more) {
                        r = side_read(side);
                        more = r == 0 && lists_key_continues(self, b);
                }
        }
        if (r == 0)
                lists_end_row(self);
        return r;
}

/* True if the rows of one key may exceed the memory that the sides leave to the task. */
static bool lists_may_lack_memory(const struct cogroup_op *self, const struct memory_task *task)
{
        bool spilled = false;
        for (int k = 0; k < self->n; k++)
                spilled = spilled || sorter_stats(self->sides[k].sorter).spills > 0;
        return spilled || memory_task_held(task) > memory_task_share(task) / 2;
}

/* Requests more memory than there is, so that the task's other consumers spill. */
static int lists_spill_others(struct cogroup_op *self, struct memory_task *task)
{
        size_t all = memory_task_share(task);
        int r = memory_acquire(&self->lists.memory, all);
        if (r == 0)
                memory_release(&self->lists.memory, all);
        return MIN(r, 0);
}

/* Allocates the first part of the buffer. If it is denied it is used all the same, because nothing else would continue.
 */
static int lists_start_buffer(struct cogroup_op *self)
{
        int r = memory_acquire_wait(&self->lists.memory, MIN_ROOM);
        if (r < 0)
                return r;
        if (!(self->lists.data = mem_try(MIN_ROOM)))
                return lists_too_large(self);
        self->lists.room = MIN_ROOM;
        return 0;
}

static int lists_start(struct cogroup_op *self)
{
        struct memory_task *task = task_run_memory(self->op.run);
        memory_consumer_init(&self->lists.memory, task, "grouped values", NULL);
        self->lists.started = true;
        self->lists.used = self->lists.row = self->lists.room = self->lists.reserve = 0;
        int r = lists_start_buffer(self);
        size_t reserve = memory_task_share(task) / RESERVED, rows = memory_task_held(task);
        if (r == 0 && lists_may_lack_memory(self, task))
                r = lists_spill_others(self, task);
        else
                reserve = MIN(reserve, rows); /* a list is not longer than all rows */
        if (r)
                return r;
        r = memory_acquire(&self->lists.memory, reserve);
        self->lists.reserve = r == 0 ? reserve : 0;
        return MIN(r, 0);
}

static void lists_end(struct cogroup_op *self)
{
        if (!self->lists.started)
                return;
        self->lists.started = false;
        memory_consumer_deinit(&self->lists.memory);
        free(steal(self->lists.data));
}

static void lists_init(struct cogroup_op *self)
{
        op_alloc_out(&self->op, self->op.type);
}

const struct cogroup_mode_class cogroup_lists_class = {
        .meet = lists_meet, .start = lists_start, .finish = lists_push, .end = lists_end, .init = lists_init};
