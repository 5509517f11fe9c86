/*
 * The modes of a cogroup that select rows of the left side and pass them on unchanged.
 *
 * If all rows are in memory, the left ones are looked up in a table of the right ones (hash_join.h). Otherwise the
 * sides are sorted. Selected rows then move to the beginning of their batch, which the side may modify, and are pushed
 * together when the next batch is read.
 */
#include "rdd/cogroup/cogroup_mode.h"
#include "rdd/cogroup/hash_join.h"

static void column_move_row(fst_column column, uint8_t kind, size_t size, uint32_t to, uint32_t from)
{
        if (kind == FST_KIND_BYTES)
                column.bytes[to] = column.bytes[from];
        else if (kind == FST_KIND_FIXED)
                memcpy(column.fixed + to * size, column.fixed + from * size, size);
        else if (kind != FST_KIND_NONE)
                column.i64[to] = column.i64[from];
}

static void filter_keep_row(struct cogroup_op *self, const struct cogroup_side *left)
{
        const fst_batch *b = &left->batch;
        uint32_t to = self->keep.kept++;
        if (to == left->at)
                return;
        column_move_row(b->key, b->type.key, b->type.key_size, to, left->at);
        column_move_row(b->value, b->type.value, b->type.value_size, to, left->at);
}

/* Pushes the selected rows of the left batch. */
static int filter_push_kept(struct cogroup_op *self)
{
        struct rows rows = {.batch = self->sides[JOIN_LEFT].batch};
        rows.batch.rows = self->keep.kept;
        self->keep.kept = 0;
        if (task_run_stopped(self->op.run))
                return task_run_cancelled(self->op.run);
        return rows.batch.rows ? op_push(&self->op, &rows) : 0;
}

static int filter_advance_left(struct cogroup_op *self, struct cogroup_side *left)
{
        if (++left->at < left->batch.rows)
                return 0;
        int r = filter_push_kept(self);
        return r ? r : side_read(left);
}

/* Consumes the right rows of a key that both sides have. One left row is selected. The key's other left rows then find
 * no right rows. */
static int filter_skip_right(struct cogroup_side *left, struct cogroup_side *right)
{
        int r = 0;
        while (r == 0 && sides_meet(left, right)) {
                right->at = batch_run_end(&right->batch, right->at);
                if (right->at == right->batch.rows)
                        r = side_read(right);
        }
        return r;
}

static int filter_meet(struct cogroup_op *self, int least, uint32_t has)
{
        struct cogroup_side *left = &self->sides[JOIN_LEFT], *right = &self->sides[JOIN_RIGHT];
        bool both = has == (1 << JOIN_LEFT | 1 << JOIN_RIGHT);
        if (!(has & 1 << JOIN_LEFT))
                return side_advance(right);
        int r = both && self->mode == COGROUP_INTERSECT ? filter_skip_right(left, right) : 0;
        if (r)
                return r;
        if (both == (self->mode == COGROUP_INTERSECT))
                filter_keep_row(self, left);
        return filter_advance_left(self, left);
}

static int filter_push_rows(void *owner, const fst_batch *left, const fst_batch *right, uint32_t n)
{
        struct cogroup_op *self = owner;
        struct rows rows = {.batch = *left};
        if (task_run_stopped(self->op.run))
                return task_run_cancelled(self->op.run);
        return op_push(&self->op, &rows);
}

static int filter_run_unsorted(struct cogroup_op *self, struct sort_index *const *sides)
{
        if (sides[JOIN_LEFT]->in_order && sides[JOIN_RIGHT]->in_order)
                return COGROUP_UNCHANGED;
        int r = hash_join_start(self->keep.hash, task_run_memory(self->op.run), sides[JOIN_LEFT], sides[JOIN_RIGHT],
                                self->mode == COGROUP_SUBTRACT ? HASH_SUBTRACT : HASH_INTERSECT, 0);
        if (r == FST_MEMORY_E_DENIED)
                return COGROUP_UNCHANGED;
        return r ? r : hash_join_run(self->keep.hash, filter_push_rows, self);
}

static int filter_start(struct cogroup_op *self)
{
        self->keep.kept = 0;
        return 0;
}

static void filter_end(struct cogroup_op *self)
{
        hash_join_end(self->keep.hash);
}

static void filter_init(struct cogroup_op *self)
{
        self->keep.hash = hash_join_new();
}

static void filter_deinit(struct cogroup_op *self)
{
        hash_join_free(self->keep.hash);
}

const struct cogroup_mode_class cogroup_keep_class = {
        .meet = filter_meet,
        .start = filter_start,
        .run_unsorted = filter_run_unsorted,
        .finish = filter_push_kept,
        .end = filter_end,
        .init = filter_init,
        .deinit = filter_deinit,
};
