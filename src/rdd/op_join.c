/*
 * A sort-merge join; see op_join.h.
 *
 * Each side goes into a sorter, which spills by itself, and the two are read together. Equal keys meet as groups, a
 * run of left and a run of right rows. The right run is read again for each left row:
 *
 *      it lies in the present batch                that is all: nearly every group of real data
 *      there is one left row                       it is read once, as it comes
 *      the right sorter did not spill              the sorter goes back to the run's beginning
 *      otherwise                                   the run goes into a buffer, which may spill too
 *
 * so a key may have more rows than memory holds, on both sides. As in Spark's CoGroupedRDD each side is held, but here
 * a group need not fit into memory.
 *
 * F64 keys meet as grouping has it (rdd/hash.h): -0.0 and 0.0 are equal, and neighbours in the sorter's order.
 *
 * Memory: what each sorter sets aside is acquired while those before can still spill, that of the group before the
 * sides are sorted, after which their sorters spill no more. Bytes that the function emits are copied, because either
 * side's batch may go before they are pushed on.
 */
#include "rdd/op_join.h"

#include "base/mem.h"
#include "rdd/key.h"
#include "rdd/record.h"
#include "rdd/row_buffer.h"
#include "rdd/sorter.h"

struct side {
        struct op op;
        struct sorter *sorter;
        fst_batch batch; /* rows in order; none at the end */
        uint32_t at;
        bool started;
};

struct join_op {
        struct op op;
        fst_fn fn;
        /* Call the function for row @at of @left with rows @from … @to of @right. */
        int (*loop)(struct join_op *self, const fst_batch *left, uint32_t at, const fst_batch *right, uint32_t from,
                    uint32_t to);
        struct side sides[2];
        struct row_buffer *group; /* the right rows of one key, where they must be kept */
        struct fst_error error;
};

/* ------------------------------------------------------------------------------------------- calling functions */

#define ARG_I64(column, size, i) , (column).i64[i]
#define ARG_F64(column, size, i) , (column).f64[i]
#define ARG_BYTES(column, size, i) , (column).bytes[i]
#define ARG_FIXED(column, size, i) , (const void *)((column).fixed ? (column).fixed + (size_t)(i) * (size) : NULL)
#define ARG_I64_POINTER(column, size, i) , (const int64_t *)((column).i64 ? &(column).i64[i] : NULL)
#define ARG_F64_POINTER(column, size, i) , (const double *)((column).f64 ? &(column).f64[i] : NULL)
#define ARG_BYTES_POINTER(column, size, i) , (const fst_bytes *)((column).bytes ? &(column).bytes[i] : NULL)

#define JOIN_LOOP(k, l, r, suffix, parameters)                                                                         \
        static int loop_##suffix(struct join_op *self, const fst_batch *left, uint32_t at, const fst_batch *right,     \
                                 uint32_t from, uint32_t to)                                                           \
        {                                                                                                              \
                int(*f) parameters = (int(*) parameters)self->fn.code;                                                 \
                fst_task *task = &self->op.run->task;                                                                  \
                for (; from < to; from++) {                                                                            \
                        int e = f(task ARG_##k(left->key, left->type.key_size, at)                                     \
                                          ARG_##l(left->value, left->type.value_size, at)                              \
                                                  ARG_##r(right->value, right->type.value_size, from),                 \
                                  &self->op.out);                                                                      \
                        if (unlikely(e != 0))                                                                          \
                                return task_run_fail_by(self->op.run, e, self->fn.name);                               \
                        if (unlikely(self->op.status != 0))                                                            \
                                return self->op.status;                                                                \
                }                                                                                                      \
                return 0;                                                                                              \
        }
FST_JOINS(JOIN_LOOP)

typedef int (*loop_fn)(struct join_op *, const fst_batch *, uint32_t, const fst_batch *, uint32_t, uint32_t);

/* By the kind of the key less one, which is 0 … 3, and those of the values with FST_POINTER, which are 1 … 7. */
#define LOOP_INDEX(k, l, r) (((k)-1) | (l) << 2 | (r) << 5)
#define LOOP_ENTRY(k, l, r, suffix, parameters) [LOOP_INDEX(FST_KIND_##k, FST_KIND_##l, FST_KIND_##r)] = loop_##suffix,
static const loop_fn loops[256] = {FST_JOINS(LOOP_ENTRY)};

/* ---------------------------------------------------------------------------------------------------- keys */

static int compare_numbers(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

/* Order of row @i of @a and row @j of @b by their keys, which have one type: <0, 0, >0. */
static int compare(const fst_batch *a, uint32_t i, const fst_batch *b, uint32_t j)
{
        switch (a->type.key) {
        case FST_KIND_I64:
                return (a->key.i64[i] > b->key.i64[j]) - (a->key.i64[i] < b->key.i64[j]);
        case FST_KIND_F64:
                return compare_numbers(record_f64_prefix(key_f64(a->key.f64[i])),
                                       record_f64_prefix(key_f64(b->key.f64[j])));
        case FST_KIND_BYTES:
                return fst_bytes_compare(a->key.bytes[i], b->key.bytes[j]);
        default:
                return memcmp(a->key.fixed + (size_t)i * a->type.key_size, b->key.fixed + (size_t)j * b->type.key_size,
                              a->type.key_size);
        }
}

/* The first row of @side's batch behind its present one that has another key. */
static uint32_t run_end(const struct side *side)
{
        uint32_t to = side->at + 1;
        while (to < side->batch.rows && compare(&side->batch, to, &side->batch, side->at) == 0)
                to++;
        return to;
}

/* ---------------------------------------------------------------------------------------------------- sides */

static bool ended(const struct side *side)
{
        return side->batch.rows == 0;
}

static int side_start(struct side *side, struct task_run *run, struct fst_error *error)
{
        int r = sorter_start(side->sorter,
                             &(struct sorter_options){.memory = task_run_memory(run),
                                                      .type = side->op.type,
                                                      .order = FST_ASCENDING,
                                                      .spill = run->spill},
                             error);
        side->started = r == 0;
        side->at = 0;
        side->batch.rows = 0;
        return r;
}

static void side_end(struct side *side)
{
        if (!side->started)
                return;
        side->op.run->counters.disk_spilled += (int64_t)sorter_stats(side->sorter).spilled_bytes;
        sorter_reset(side->sorter);
        side->started = false;
}

static int side_read(struct side *side, struct fst_error *error)
{
        side->at = 0;
        return sorter_next(side->sorter, &side->batch, error);
}

/* No further rows: the first ones in order. */
static int side_sort(struct side *side, struct fst_error *error)
{
        int r = sorter_finish(side->sorter, error);
        return r ? r : side_read(side, error);
}

static int side_advance(struct side *side, struct fst_error *error)
{
        return ++side->at < side->batch.rows ? 0 : side_read(side, error);
}

static int side_begin(struct op *op)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = side_start(container_of(op, struct side, op), op->run, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int side_consume(struct op *op, const struct rows *in)
{
        struct side *side = container_of(op, struct side, op);
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = sorter_add_batch(side->sorter, &in->batch, &error);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static const struct op_class side_class = {"join", .begin = side_begin, .consume = side_consume};

/* -------------------------------------------------------------------------------------------------- groups */

static int call(struct join_op *self, const struct side *right, uint32_t to)
{
        const struct side *left = &self->sides[JOIN_LEFT];
        if (unlikely(task_run_stopped(self->op.run)))
                return task_run_cancelled(self->op.run);
        return self->loop(self, &left->batch, left->at, &right->batch, right->at, to);
}

/* The present left row with every row of @right, from its present one on, that has its key; goes behind them. */
static int join_row(struct join_op *self, struct side *right)
{
        const struct side *left = &self->sides[JOIN_LEFT];
        int r = 0;
        while (r == 0 && !ended(right) && compare(&left->batch, left->at, &right->batch, right->at) == 0) {
                uint32_t to = run_end(right);
                r = call(self, right, to);
                right->at = to;
                if (r == 0 && to == right->batch.rows)
                        r = side_read(right, &self->error);
        }
        return r;
}

/* Whether the present rows have one key. */
static bool meet(const struct side *left, const struct side *right)
{
        return !ended(left) && !ended(right) && compare(&left->batch, left->at, &right->batch, right->at) == 0;
}

/* The right run lies in the batch, up to @to. */
static int join_within(struct join_op *self, struct side *left, struct side *right, uint32_t to)
{
        int r;
        do {
                r = call(self, right, to);
                if (r == 0)
                        r = side_advance(left, &self->error);
        } while (r == 0 && meet(left, right));
        right->at = to;
        return r;
}

/* The right run is longer, but its sorter can go back. */
static int join_seeking(struct join_op *self, struct side *left, struct side *right)
{
        size_t start = sorter_tell(right->sorter) - (right->batch.rows - right->at), end = start;
        int r;
        do {
                r = join_row(self, right);
                end = sorter_tell(right->sorter) - (right->batch.rows - right->at);
                if (r == 0)
                        r = side_advance(left, &self->error);
                if (r == 0) {
                        sorter_seek(right->sorter, start);
                        r = side_read(right, &self->error);
                }
        } while (r == 0 && meet(left, right));
        if (r == 0) {
                sorter_seek(right->sorter, end);
                r = side_read(right, &self->error);
        }
        return r;
}

/* Move the right rows that have the key of the present left one into the group. */
static int gather(struct join_op *self, const struct side *left, struct side *right)
{
        int r = 0;
        while (r == 0 && meet(left, right)) {
                uint32_t to = run_end(right);
                struct rows whole = {.batch = right->batch};
                struct rows part = rows_part(&whole, right->at, to - right->at);
                r = row_buffer_add(self->group, &part.batch, &self->error);
                right->at = to;
                if (r == 0 && to == right->batch.rows)
                        r = side_read(right, &self->error);
        }
        return r;
}

/* The left rows of a key, one after another, each with all of the group. */
static int join_gathered(struct join_op *self, struct side *left, struct side *right)
{
        struct side group = {0};
        int r = gather(self, left, right);
        for (;;) {
                if (r == 0)
                        r = row_buffer_read(self->group, &self->error);
                if (r == 0)
                        r = row_buffer_next(self->group, &group.batch, &self->error);
                if (r || !meet(left, &group))
                        break;
                while (r == 0 && !ended(&group)) {
                        r = call(self, &group, group.batch.rows);
                        if (r == 0)
                                r = row_buffer_next(self->group, &group.batch, &self->error);
                }
                if (r == 0)
                        r = side_advance(left, &self->error);
        }
        row_buffer_clear(self->group);
        return r;
}

/* All rows of the key that both sides are at. */
static int join_group(struct join_op *self)
{
        struct side *left = &self->sides[JOIN_LEFT], *right = &self->sides[JOIN_RIGHT];
        uint32_t to = run_end(right);
        if (to < right->batch.rows)
                return join_within(self, left, right, to);
        if (left->at + 1 < left->batch.rows && run_end(left) == left->at + 1) {
                int r = join_row(self, right);
                return r ? r : side_advance(left, &self->error);
        }
        return sorter_in_memory(right->sorter) ? join_seeking(self, left, right) : join_gathered(self, left, right);
}

static int merge(struct join_op *self)
{
        struct side *left = &self->sides[JOIN_LEFT], *right = &self->sides[JOIN_RIGHT];
        int r = 0;
        while (r == 0 && !ended(left) && !ended(right)) {
                int order = compare(&left->batch, left->at, &right->batch, right->at);
                if (order == 0)
                        r = join_group(self);
                else
                        r = side_advance(order < 0 ? left : right, &self->error);
        }
        return r;
}

/* What was set aside for the group is asked for while the sides can spill; then they are sorted. */
static int sort_sides(struct join_op *self)
{
        struct task_run *run = self->op.run;
        struct side *right = &self->sides[JOIN_RIGHT];
        int r = row_buffer_start(self->group, task_run_memory(run), run->spill, right->op.type, &self->error);
        if (r == 0)
                r = side_sort(right, &self->error);
        return r ? r : side_sort(&self->sides[JOIN_LEFT], &self->error);
}

/* ------------------------------------------------------------------------------------------------ the operator */

static int join_end(struct op *op)
{
        struct join_op *self = container_of(op, struct join_op, op);
        struct task_run *run = op->run;
        int r = sort_sides(self);
        const void *captured = run->task.captured;
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        if (r == 0)
                r = merge(self);
        task_run_leave(run, outer);
        run->task.captured = captured;
        if (r < 0 && !run->status)
                task_run_fail_with(run, r, &self->error);
        if (r >= 0 && op_flush(op))
                r = op->status;
        op->class->abandon(op);
        return r;
}

static void join_abandon(struct op *op)
{
        struct join_op *self = container_of(op, struct join_op, op);
        side_end(&self->sides[JOIN_LEFT]);
        side_end(&self->sides[JOIN_RIGHT]);
        self->op.run->counters.disk_spilled += (int64_t)row_buffer_spilled(self->group);
        row_buffer_reset(self->group);
        error_deinit(&self->error);
}

static void join_free(struct op *op)
{
        struct join_op *self = container_of(op, struct join_op, op);
        join_abandon(op);
        for (int i = 0; i < 2; i++) {
                sorter_free(self->sides[i].sorter);
                op_deinit(&self->sides[i].op);
        }
        row_buffer_free(self->group);
        op_deinit(op);
        free(self);
}

/* The sides are ended with the join: whoever computes it consumes nothing itself. */
static const struct op_class join_class = {"join", .end = join_end, .abandon = join_abandon, .free = join_free};

static void side_init(struct side *side, struct task_run *run, fst_type type)
{
        op_init(&side->op, &side_class, run, type);
        side->sorter = sorter_new();
}

struct op *join_op_new(struct task_run *run, fst_type left, fst_type right, fst_type out, const fst_fn *fn)
{
        struct join_op *self = new0(struct join_op);
        op_init(&self->op, &join_class, run, out);
        op_alloc_out(&self->op, out);
        self->fn = *fn;
        self->loop = loops[LOOP_INDEX(left.key, FST_SHAPE_TAG(fn->shape) >> 8, FST_SHAPE_THIRD(fn->shape))];
        side_init(&self->sides[JOIN_LEFT], run, left);
        side_init(&self->sides[JOIN_RIGHT], run, right);
        self->group = row_buffer_new();
        return &self->op;
}

struct op *join_op_side(struct op *join, enum join_side side)
{
        return &container_of(join, struct join_op, op)->sides[side].op;
}

int join_check(fst_type left, fst_type right, const fst_fn *fn, struct fst_error *error)
{
        char a[64], b[64];
        if (!left.value || !right.value)
                return error_set(error, -EINVAL, "join needs pairs on both sides, but the rows are %s and %s",
                                 fst_type_name(left, a), fst_type_name(right, b));
        if (left.key != right.key || left.key_size != right.key_size)
                return error_set(error, -EINVAL,
                                 "join needs keys of one type on both sides, but the rows are %s and %s%s",
                                 fst_type_name(left, a), fst_type_name(right, b),
                                 left.key == right.key ? ", whose keys have different sizes" : "");
        if (FST_SHAPE_FORM(fn->shape) != FST_FORM_JOIN)
                return error_set(error, -EINVAL,
                                 "%s is not a function that join can call: that takes a key, a left and a right value, "
                                 "and where to emit (see firesteel/function.h)",
                                 fn->name);
        fst_type want_left = {.key = FST_SHAPE_TAG(fn->shape) & 0xff, .value = FST_SHAPE_TAG(fn->shape) >> 8};
        fst_type want_right = {.key = want_left.key, .value = FST_SHAPE_THIRD(fn->shape)};
        if (fst_type_tag(want_left) != fst_type_tag(left))
                return error_set(error, -EINVAL, "%s takes %s on the left, but the rows are %s", fn->name,
                                 fst_type_name(want_left, a), fst_type_name(left, b));
        if (fst_type_tag(want_right) != fst_type_tag(right))
                return error_set(error, -EINVAL, "%s takes %s on the right, but the rows are %s", fn->name,
                                 fst_type_name(want_right, a), fst_type_name(right, b));
        return 0;
}
