/*
 * Joins: the mode of a cogroup that calls a function for each pair of a left and a right row of a key.
 *
 * If one side is small and comes first, the other is joined as it comes (join_stream.h). If all rows are in memory, a
 * hash join (hash_join.h) matches them. Otherwise the sides are sorted and merged, and the
 * right rows of a key are read again for each left row:
 *
 *      they are all in the current batch           reads them there: nearly every group of real data
 *      there is one left row                       reads them once, as they come
 *      the right sorter did not spill              the sorter seeks back to the first of them
 *      otherwise                                   copies them into a buffer, which may spill, too
 *
 * So a key may have more rows than memory holds, on both sides. In outer joins, a row whose key is missing on the other
 * side is joined with a row without columns, so functions get NULL for its value.
 */
#include "base/mem.h"
#include "rdd/cogroup/cogroup_mode.h"
#include "rdd/cogroup/hash_join.h"
#include "rdd/cogroup/join_stream.h"
#include "rdd/sort/sorter.h"

/* -------------------------------------------------------------------------------------------- keys of both sides */

static int cogroup_join_call(struct cogroup_op *self, const struct cogroup_side *right, uint32_t to)
{
        const struct cogroup_side *left = &self->sides[JOIN_LEFT];
        if (unlikely(task_run_stopped(self->op.run)))
                return task_run_cancelled(self->op.run);
        return join_caller_call(&self->join.caller, &self->op, &self->fn, &left->batch, left->at, 0, &right->batch,
                                right->at, to);
}

/* Joins the current left row with all rows of @right from the current one on that have its key, and moves @right past
 * them. */
static int join_row(struct cogroup_op *self, struct cogroup_side *right)
{
        const struct cogroup_side *left = &self->sides[JOIN_LEFT];
        int r = 0;
        while (r == 0 && sides_meet(left, right)) {
                uint32_t to = batch_run_end(&right->batch, right->at);
                r = cogroup_join_call(self, right, to);
                right->at = to;
                if (r == 0 && to == right->batch.rows)
                        r = side_read(right);
        }
        return r;
}

/* Joins when all right rows, up to @to, are in the batch. */
static int join_within(struct cogroup_op *self, struct cogroup_side *left, struct cogroup_side *right, uint32_t to)
{
        int r;
        do {
                r = cogroup_join_call(self, right, to);
                if (r == 0)
                        r = side_advance(left);
        } while (r == 0 && sides_meet(left, right));
        right->at = to;
        return r;
}

/* Joins when there are more right rows but their sorter can seek. */
static int join_seeking(struct cogroup_op *self, struct cogroup_side *left, struct cogroup_side *right)
{
        size_t start = sorter_tell(right->sorter) - (right->batch.rows - right->at), end = start;
        int r;
        do {
                r = join_row(self, right);
                end = sorter_tell(right->sorter) - (right->batch.rows - right->at);
                if (r == 0)
                        r = side_advance(left);
                if (r == 0) {
                        sorter_seek(right->sorter, start);
                        r = side_read(right);
                }
        } while (r == 0 && sides_meet(left, right));
        if (r == 0) {
                sorter_seek(right->sorter, end);
                r = side_read(right);
        }
        return r;
}

/* Moves the right rows with the key of the current left row into the group. */
static int cogroup_join_gather(struct cogroup_op *self, const struct cogroup_side *left, struct cogroup_side *right)
{
        int r = 0;
        while (r == 0 && sides_meet(left, right)) {
                uint32_t to = batch_run_end(&right->batch, right->at);
                struct rows whole = {.batch = right->batch};
                struct rows part = rows_part(&whole, right->at, to - right->at);
                r = row_buffer_add(self->join.group, &part.batch, &self->error);
                right->at = to;
                if (r == 0 && to == right->batch.rows)
                        r = side_read(right);
        }
        return r;
}

/* Joins each left row of a key with all rows of the group. */
static int join_gathered(struct cogroup_op *self, struct cogroup_side *left, struct cogroup_side *right)
{
        struct cogroup_side group = {0};
        struct row_buffer *buffer = self->join.group;
        int r = cogroup_join_gather(self, left, right);
        for (;;) {
                if (r == 0)
                        r = row_buffer_read(buffer, &self->error);
                if (r == 0)
                        r = row_buffer_next(buffer, &group.batch, &self->error);
                if (r || !sides_meet(left, &group))
                        break;
                while (r == 0 && !side_ended(&group)) {
                        r = cogroup_join_call(self, &group, group.batch.rows);
                        if (r == 0)
                                r = row_buffer_next(buffer, &group.batch, &self->error);
                }
                if (r == 0)
                        r = side_advance(left);
        }
        row_buffer_clear(buffer);
        return r;
}

static int join_both(struct cogroup_op *self, struct cogroup_side *left, struct cogroup_side *right)
{
        uint32_t to = batch_run_end(&right->batch, right->at);
        if (to < right->batch.rows)
                return join_within(self, left, right, to);
        if (left->at + 1 < left->batch.rows && batch_run_end(&left->batch, left->at) == left->at + 1) {
                int r = join_row(self, right);
                return r ? r : side_advance(left);
        }
        return sorter_in_memory(right->sorter) ? join_seeking(self, left, right) : join_gathered(self, left, right);
}

/* --------------------------------------------------------------------------------------------------- the mode */

static int join_meet(struct cogroup_op *self, int least, uint32_t has)
{
        struct cogroup_side *left = &self->sides[JOIN_LEFT], *right = &self->sides[JOIN_RIGHT];
        if (has == (1 << JOIN_LEFT | 1 << JOIN_RIGHT))
                return join_both(self, left, right);
        if ((has & self->wanted) != self->wanted)
                return side_advance(&self->sides[least]);
        if (unlikely(task_run_stopped(self->op.run)))
                return task_run_cancelled(self->op.run);
        int r;
        if (least == JOIN_LEFT) {
                fst_batch missing = {.type = right->op.type};
                r = join_caller_call(&self->join.caller, &self->op, &self->fn, &left->batch, left->at, 0, &missing, 0,
                                     1);
        } else {
                fst_batch missing = {.type = left->op.type, .key = right->batch.key};
                r = join_caller_call(&self->join.caller, &self->op, &self->fn, &missing, right->at, 0, &right->batch,
                                     right->at, right->at + 1);
        }
        return r ? r : side_advance(&self->sides[least]);
}

static int join_call_rows(void *owner, const fst_batch *left, const fst_batch *right, uint32_t n)
{
        struct cogroup_op *self = owner;
        if (unlikely(task_run_stopped(self->op.run)))
                return task_run_cancelled(self->op.run);
        return join_caller_call(&self->join.caller, &self->op, &self->fn, left, 0, 1, right, 0, n);
}

/* Two sides that come in order are merged, which costs less than a table. */
static int join_run_unsorted(struct cogroup_op *self, struct sort_index *const *sides)
{
        static const uint32_t both = 1 << JOIN_LEFT | 1 << JOIN_RIGHT;
        if (sides[JOIN_LEFT]->in_order && sides[JOIN_RIGHT]->in_order)
                return COGROUP_UNCHANGED;
        /* the sides that may lack a row: none is wanted in a full join */
        uint32_t preserved = self->wanted == both ? 0 : self->wanted ? self->wanted : both;
        int r = hash_join_start(self->join.hash, task_run_memory(self->op.run), sides[JOIN_LEFT], sides[JOIN_RIGHT],
                                HASH_JOIN, preserved);
        if (r == FST_MEMORY_E_DENIED)
                return COGROUP_UNCHANGED;
        if (r == 0)
                r = hash_join_run(self->join.hash, join_call_rows, self);
        return r;
}

static int join_stream(struct cogroup_op *self, enum join_side built, struct op **other)
{
        *other = join_stream_op(self->join.stream);
        return join_stream_start(self->join.stream, built);
}

static int join_start(struct cogroup_op *self)
{
        struct task_run *run = self->op.run;
        return row_buffer_start(self->join.group, task_run_memory(run), run->spill, self->sides[JOIN_RIGHT].op.type,
                                &self->error);
}

static void join_end(struct cogroup_op *self)
{
        self->op.run->counters.disk_spilled += (int64_t)row_buffer_spilled(self->join.group);
        row_buffer_reset(self->join.group);
        hash_join_end(self->join.hash);
        join_stream_end(self->join.stream);
}

static void join_init(struct cogroup_op *self)
{
        op_alloc_out(&self->op, self->op.type);
        self->join.group = row_buffer_new();
        self->join.hash = hash_join_new();
        self->join.stream = join_stream_new(self);
        join_caller_init(&self->join.caller, &self->fn, self->sides[JOIN_LEFT].op.type,
                         self->sides[JOIN_RIGHT].op.type);
}

static void join_deinit(struct cogroup_op *self)
{
        row_buffer_free(self->join.group);
        hash_join_free(self->join.hash);
        join_stream_free(self->join.stream);
        join_caller_deinit(&self->join.caller);
}

const struct cogroup_mode_class cogroup_join_class = {
        .meet = join_meet,
        .start = join_start,
        .run_unsorted = join_run_unsorted,
        .stream = join_stream,
        .end = join_end,
        .init = join_init,
        .deinit = join_deinit,
};
