/*
 * Groups: the mode of a cogroup that calls a function for each key, with an iterator over the values of each side.
 *
 * The iterators read the sides directly, so no group is collected, and a function may read them in any order. Values
 * that it did not read are skipped. The key is copied out of the sides, because their rows are released while the
 * function uses the key.
 */
#include "base/mem.h"
#include "rdd/cogroup/cogroup_mode.h"

/* ------------------------------------------------------------------------------------------- calling functions */

#define KEY_I64(column) (column).i64[0]
#define KEY_F64(column) (column).f64[0]
#define KEY_BYTES(column) (column).bytes[0]
#define KEY_FIXED(column) (const void *)(column).fixed

#define CALLS(kind, suffix, type)                                                                                      \
        static int group_##suffix(struct cogroup_op *self)                                                             \
        {                                                                                                              \
                int (*f)(fst_task *, type, fst_iter *, fst_out *) =                                                    \
                        (int (*)(fst_task *, type, fst_iter *, fst_out *))self->fn.code;                               \
                return f(&self->op.run->task, KEY_##kind(self->groups.shown), self->groups.iters[0], &self->op.out);   \
        }                                                                                                              \
        static int cogroup_##suffix(struct cogroup_op *self)                                                           \
        {                                                                                                              \
                int (*f)(fst_task *, type, fst_iter *, fst_iter *, fst_out *) =                                        \
                        (int (*)(fst_task *, type, fst_iter *, fst_iter *, fst_out *))self->fn.code;                   \
                return f(&self->op.run->task, KEY_##kind(self->groups.shown), self->groups.iters[0],                   \
                         self->groups.iters[1], &self->op.out);                                                        \
        }                                                                                                              \
        static int cogroup_all_##suffix(struct cogroup_op *self)                                                       \
        {                                                                                                              \
                int (*f)(fst_task *, type, fst_iter *const *, fst_out *) =                                             \
                        (int (*)(fst_task *, type, fst_iter *const *, fst_out *))self->fn.code;                        \
                return f(&self->op.run->task, KEY_##kind(self->groups.shown), self->groups.iters, &self->op.out);      \
        }
FST_KEYS(CALLS)

typedef int (*call_fn)(struct cogroup_op *);

#define CALL_ENTRIES(kind, suffix, type)                                                                               \
        [FST_KIND_##kind] = {[FST_FORM_GROUP - FST_FORM_GROUP] = group_##suffix,                                       \
                             [FST_FORM_COGROUP - FST_FORM_GROUP] = cogroup_##suffix,                                   \
                             [FST_FORM_COGROUP_ALL - FST_FORM_GROUP] = cogroup_all_##suffix},
static const call_fn calls[FST_KIND_FIXED + 1][FST_FORM_COGROUP_ALL - FST_FORM_GROUP + 1] = {FST_KEYS(CALL_ENTRIES)};

/* --------------------------------------------------------------------------------------------------- the mode */

/* Copies the key of the current row of @side. */
static void groups_copy_key(struct cogroup_op *self, const struct cogroup_side *side)
{
        fst_column key = self->groups.key.key;
        size_t size = side->op.type.key_size;
        switch (side->op.type.key) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                key.i64[0] = side->batch.key.i64[side->at];
                break;
        case FST_KIND_FIXED:
                memcpy(key.fixed, side->batch.key.fixed + side->at * size, size);
                break;
        default:
                key.bytes[0] = side->batch.key.bytes[side->at];
                if (self->in_memory)
                        break;
                if (key.bytes[0].len > self->groups.room)
                        self->groups.copy = mem_grow(self->groups.copy, self->groups.room = key.bytes[0].len);
                if (key.bytes[0].len)
                        memcpy(self->groups.copy, key.bytes[0].data, key.bytes[0].len);
                key.bytes[0].data = self->groups.copy;
        }
}

static int groups_meet(struct cogroup_op *self, int least, uint32_t has)
{
        struct task_run *run = self->op.run;
        if (unlikely(task_run_stopped(run)))
                return task_run_cancelled(run);
        groups_copy_key(self, &self->sides[least]);
        self->groups.shown = self->groups.key.key;
        if (self->groups.structs.type) {
                int e = struct_column_read(&self->groups.structs, self->groups.key.key.bytes, 1, &self->error);
                if (e)
                        return e;
                self->groups.shown.fixed = self->groups.structs.rows;
        }
        for (int k = 0; k < self->n; k++)
                side_open(&self->sides[k], &self->groups.key, has >> k & 1);
        int r = self->groups.call(self);
        if (unlikely(r != 0))
                return task_run_fail_by(run, r, self->fn.name);
        r = run->status ? run->status : self->op.status;
        for (int k = 0; k < self->n && r == 0; k++)
                r = side_close(&self->sides[k]);
        return r;
}

static void groups_init(struct cogroup_op *self)
{
        fst_type type = self->sides[0].op.type;
        op_alloc_out(&self->op, self->op.type);
        self->groups.key = (fst_batch){.rows = 1, .type = type};
        self->groups.key.key.fixed = mem_zero(type.key == FST_KIND_BYTES ? sizeof(fst_bytes) : type.key_size);
        struct_column_init(&self->groups.structs, type.key, type.key_size);
        self->groups.call = calls[fst_type_seen(type).key][FST_SHAPE_FORM(self->fn.shape) - FST_FORM_GROUP];
        for (int k = 0; k < self->n; k++)
                self->groups.iters[k] = &self->sides[k].values;
}

static void groups_deinit(struct cogroup_op *self)
{
        free(self->groups.key.key.fixed);
        free(self->groups.copy);
        struct_column_deinit(&self->groups.structs);
}

const struct cogroup_mode_class cogroup_groups_class = {
        .meet = groups_meet, .init = groups_init, .deinit = groups_deinit};
