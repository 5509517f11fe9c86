/*
 * Cogroup; see op_cogroup.h.
 *
 * Each side goes into a sorter, which spills on its own, and all sides are read together. A step finds the smallest of
 * the sides' current keys, and the mode handles its rows. As in Spark's CoGroupedRDD each side is held, but here the
 * rows of one key need not fit into memory. A side that arrives in order is not sorted again (rdd/sort/sort_index.h).
 *
 * F64 keys are equal as grouping requires (rdd/aggregate/hash.h): -0.0 and 0.0 are one key, and adjacent in the
 * sorter's order.
 *
 * Memory: each sorter acquires its reserve while earlier sorters can still spill. The mode acquires its memory before
 * the sides are sorted. Sorted sides do not spill. Emitted bytes are copied, because a side's batch may be released
 * before they are pushed.
 */
#include "rdd/cogroup/op_cogroup.h"

#include "base/mem.h"
#include "rdd/cogroup/cogroup_mode.h"
#include "rdd/cogroup/op_broadcast_join.h"
#include "rdd/sort/sorter.h"

static const struct cogroup_mode_info {
        const char *name;
        const struct cogroup_mode_class *class;
        uint32_t wanted; /* required sides, as in struct cogroup_op */
} modes[COGROUP_MODES] = {
        [COGROUP_JOIN] = {"join", &cogroup_join_class, 1 << JOIN_LEFT | 1 << JOIN_RIGHT},
        [COGROUP_LEFT_JOIN] = {"left_outer_join", &cogroup_join_class, 1 << JOIN_LEFT},
        [COGROUP_RIGHT_JOIN] = {"right_outer_join", &cogroup_join_class, 1 << JOIN_RIGHT},
        [COGROUP_FULL_JOIN] = {"full_outer_join", &cogroup_join_class, 0},
        [COGROUP_GROUPS] = {"cogroup", &cogroup_groups_class, 0},
        [COGROUP_SUBTRACT] = {"subtract", &cogroup_keep_class, 1 << JOIN_LEFT},
        [COGROUP_INTERSECT] = {"intersection", &cogroup_keep_class, 1 << JOIN_LEFT | 1 << JOIN_RIGHT},
        [COGROUP_LISTS] = {"group_by_key", &cogroup_lists_class, 0},
        [COGROUP_ELEMENTS] = {"group_by", &cogroup_lists_class, 0},
};

static struct cogroup_op *cogroup_of(struct op *op)
{
        return container_of(op, struct cogroup_op, op);
}

/* ---------------------------------------------------------------------------------------------- matching keys */

/* The side with the smallest key; *@has: all sides with that key. -1: no further key can matter. */
static int cogroup_least_side(const struct cogroup_op *self, uint32_t *has)
{
        int least = -1;
        *has = 0;
        for (int k = 0; k < self->n; k++) {
                const struct cogroup_side *side = &self->sides[k];
                if (side_ended(side)) {
                        if (self->wanted >> k & 1)
                                return -1;
                        continue;
                }
                int order = least < 0 ? -1 : side_compare(side, &self->sides[least]);
                if (order < 0) {
                        least = k;
                        *has = 0;
                }
                if (order <= 0)
                        *has |= 1u << k;
        }
        return least;
}

static int cogroup_meet_keys(struct cogroup_op *self)
{
        uint32_t has;
        int r = 0;
        for (int least; r == 0 && (least = cogroup_least_side(self, &has)) >= 0;)
                r = self->class->meet(self, least, has);
        return r;
}

/* Ends the input. The mode reserves its memory while the sides can spill. */
static int cogroup_close_sides(struct cogroup_op *self)
{
        int r = self->class->start ? self->class->start(self) : 0;
        for (int k = self->n - 1; k >= 0 && r == 0; k--)
                r = sorter_close(self->sides[k].sorter, &self->error);
        return r;
}

/* Handles all rows without sorting them if all are in memory. Returns as `run_unsorted`. */
static int cogroup_run_unsorted(struct cogroup_op *self)
{
        struct sort_index *sides[MAX_COGROUP_SIDES];
        for (int k = 0; k < self->n; k++)
                if (!sorter_in_memory(self->sides[k].sorter))
                        return COGROUP_UNCHANGED;
        for (int k = 0; k < self->n; k++)
                sides[k] = sorter_unsorted(self->sides[k].sorter);
        return self->class->run_unsorted(self, sides);
}

static int cogroup_sort_sides(struct cogroup_op *self)
{
        int r = 0;
        self->in_memory = true;
        for (int k = self->n - 1; k >= 0 && r == 0; k--) {
                r = side_sort(&self->sides[k]);
                self->in_memory = self->in_memory && sorter_in_memory(self->sides[k].sorter);
        }
        return r;
}

/* ------------------------------------------------------------------------------------------------ the operator */

/* Makes and pushes all rows. */
static int cogroup_make(struct cogroup_op *self)
{
        struct task_run *run = self->op.run;
        int r = cogroup_close_sides(self);
        const void *captured = run->task.captured;
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        if (r == 0)
                r = self->class->run_unsorted ? cogroup_run_unsorted(self) : COGROUP_UNCHANGED;
        if (r == COGROUP_UNCHANGED) {
                r = cogroup_sort_sides(self);
                if (r == 0)
                        r = cogroup_meet_keys(self);
        }
        task_run_leave(run, outer);
        run->task.captured = captured;
        if (r < 0 && !run->status)
                task_run_fail_with(run, r, &self->error);
        return r == 0 && self->class->finish ? self->class->finish(self) : r;
}

static int cogroup_end(struct op *op)
{
        struct cogroup_op *self = cogroup_of(op);
        int r = self->streamed ? 0 : cogroup_make(self);
        if (r >= 0 && op_flush(op))
                r = op->status;
        op->class->abandon(op);
        return r;
}

static void cogroup_abandon(struct op *op)
{
        struct cogroup_op *self = cogroup_of(op);
        for (int k = 0; k < self->n; k++)
                side_end(&self->sides[k]);
        if (self->class->end)
                self->class->end(self);
        self->streamed = false;
        error_deinit(&self->error);
}

static void cogroup_free(struct op *op)
{
        struct cogroup_op *self = cogroup_of(op);
        cogroup_abandon(op);
        if (self->class->deinit)
                self->class->deinit(self);
        for (int k = 0; k < self->n; k++)
                side_deinit(&self->sides[k]);
        free(self->sides);
        op_deinit(op);
        free(self);
}

/* Has no `consume`: rows go to the sides, which end with the cogroup. */
static const struct op_class cogroup_class = {"cogroup", .end = cogroup_end, .abandon = cogroup_abandon,
                                              .free = cogroup_free};

struct op *cogroup_op_new(struct task_run *run, enum cogroup_mode mode, const fst_type *sides, int n, fst_type out,
                          const fst_fn *fn)
{
        struct cogroup_op *self = new0(struct cogroup_op);
        self->of_mode = cogroup_class;
        self->of_mode.name = mode == COGROUP_GROUPS && n == 1 ? "flat_map_groups" : modes[mode].name;
        op_init(&self->op, &self->of_mode, run, out);
        self->mode = mode;
        self->class = modes[mode].class;
        self->wanted = modes[mode].wanted;
        if (cogroup_calls(mode))
                self->fn = *fn;
        self->n = n;
        self->sides = new_array(struct cogroup_side, (size_t)n);
        for (int k = 0; k < n; k++)
                side_init(&self->sides[k], run, sides[k], &self->error, &self->fn.name);
        if (self->class->init)
                self->class->init(self);
        return &self->op;
}

struct op *cogroup_op_side(struct op *cogroup, int side)
{
        return &cogroup_of(cogroup)->sides[side].op;
}

bool cogroup_op_can_stream(const struct op *cogroup, enum join_side built)
{
        const struct cogroup_op *self = container_of(cogroup, struct cogroup_op, op);
        return self->class->stream && broadcast_join_fits(self->mode, built);
}

int cogroup_op_stream(struct op *cogroup, enum join_side built, struct op **other)
{
        struct cogroup_op *self = cogroup_of(cogroup);
        int r = self->class->stream(self, built, other);
        self->streamed = r == 0;
        if (r == COGROUP_UNCHANGED) {
                *other = &self->sides[!built].op;
                return 0;
        }
        return r < 0 && !cogroup->run->status ? task_run_fail_with(cogroup->run, r, &self->error) : r;
}
