/* See op_combine.h. */
#include "rdd/aggregate/op_combine.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/aggregate/combine_rows.h"
#include "rdd/pipeline/page_loan.h"
#include "store/page.h"

/* -------------------------------------------------------------------------------- targets of emitting functions */

static void out_free(struct op *op)
{
        op_deinit(op);
        free(op);
}

static const struct op_class out_class = {"reduce", .free = out_free};

struct op *combine_out_new(struct task_run *run, fst_type value)
{
        struct op *op = new0(struct op);
        op_init(op, &out_class, run, value);
        op_alloc_out(op, value);
        op->one_for_one = true;
        return op;
}

void combine_out_reset(fst_out *out)
{
        out->rows = 0;
        out->op->status = 0;
        arena_reset(&out->op->heap);
}

static bool op_combine_emits(const fst_fn *fn)
{
        return FST_SHAPE_FORM(fn->shape) == FST_FORM_EMIT;
}

struct op *combine_out_for(struct task_run *run, fst_type type, const struct aggregate_values *values, const fst_fn *fn)
{
        if (!op_combine_emits(fn) &&
            !(values && (op_combine_emits(&values->create) || op_combine_emits(&values->merge))))
                return NULL;
        return combine_out_new(run, (fst_type){.key = type.value, .key_size = type.value_size});
}

/* -------------------------------------------------------------------------------------------------- combining */

#define MAX_SUM ((uint64_t)1 << 62) /* so that a sum of two stays positive */

/* The sums of the values of shared keys, so far: each key is looked up once for all map outputs that share it. */
struct shared_sums {
        const struct page_key_part *keys; /* with a reference to the owner */
        uint32_t n;
        uint64_t *sums; /* by key of the part; 0: no row. Reserved */
};

struct combine_op {
        struct op op;
        fst_fn fn;
        const struct aggregate_values *values;
        struct aggregate *aggregate;
        struct op *emitted; /* NULL unless the function emits */
        bool started;
        bool adds;                     /* the function is fst_fn_sum on I64 */
        struct memory_consumer memory; /* of the sums */
        VEC(struct shared_sums) shared;
};

static int combine_begin(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        int r = aggregate_start(self->aggregate,
                                &(struct aggregate_options){.side = AGGREGATE_REDUCE,
                                                            .memory = task_run_memory(op->run),
                                                            .type = op->type,
                                                            .combine = self->fn,
                                                            .values = self->values,
                                                            .task = &op->run->task,
                                                            .spill = op->run->spill,
                                                            .out = self->emitted ? &self->emitted->out : NULL,
                                                            .out_reset = combine_out_reset},
                                &error);
        self->started = r == 0;
        if (r == 0)
                memory_consumer_init(&self->memory, task_run_memory(op->run), "sums of shared keys", NULL);
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int combine_consume(struct op *op, const struct rows *in)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        const char *outer = task_run_enter(op->run, self->values ? self->values->merge.name : self->fn.name);
        int r = aggregate_add(self->aggregate, &in->batch, &at, &error);
        task_run_leave(op->run, outer);
        if (r == FST_AGGREGATE_E_FULL)
                return task_run_fail(op->run, -ENOMEM, "no memory to combine by key or to spill");
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

/* The sums of the keys of @page, or NULL if memory is denied. */
static uint64_t *combine_sums_for(struct combine_op *self, const struct page *page)
{
        for (size_t i = 0; i < self->shared.len; i++)
                if (self->shared.data[i].keys == page->keys)
                        return self->shared.data[i].sums;
        const size_t size = page_values_count(page) * sizeof(uint64_t);
        if (memory_acquire(&self->memory, size) != 0)
                return NULL;
        page_keys_ref(page->keys->owner);
        struct shared_sums s = {page->keys, page_values_count(page), mem_zero(size)};
        vec_push(&self->shared, s);
        return s.sums;
}

/* Adds the values of a page with shared keys. Any other page comes row by row. */
static int combine_borrow(struct op *op, const struct page *page, struct page_loan *loan)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        if (!page->keys || !self->adds)
                return OP_NOT_BORROWED;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        uint64_t *sums = combine_sums_for(self, page), all = 0;
        if (!sums)
                return OP_NOT_BORROWED;
        const uint64_t *values = (const uint64_t *)page_values(page);
        const uint32_t n = page_values_count(page);
        for (uint32_t i = 0; i < n; i++)
                all |= values[i] | sums[i];
        if (all >= MAX_SUM)
                return OP_NOT_BORROWED;
        for (uint32_t i = 0; i < n; i++)
                sums[i] += values[i];
        loan->end(loan);
        return 0;
}

static void combine_forget_shared(struct combine_op *self)
{
        for (size_t i = 0; i < self->shared.len; i++) {
                page_keys_unref(self->shared.data[i].keys->owner);
                free(self->shared.data[i].sums);
        }
        self->shared.len = 0;
        if (self->memory.held)
                memory_release(&self->memory, self->memory.held);
}

/* Moves sums of shared keys to the table. */
static int combine_add_sums(struct combine_op *self, const struct shared_sums *s, struct fst_error *error)
{
        const fst_bytes *from = s->keys->owner->keys + s->keys->owner->start[s->keys->number];
        fst_bytes keys[FST_BATCH_ROWS];
        int64_t values[FST_BATCH_ROWS];
        int r = 0;
        for (uint32_t i = 0; i < s->n && r == 0;) {
                fst_batch batch = {.type = self->op.type, .key.bytes = keys, .value.i64 = values};
                for (; i < s->n && batch.rows < FST_BATCH_ROWS; i++) {
                        keys[batch.rows] = from[i];
                        values[batch.rows] = (int64_t)s->sums[i];
                        batch.rows += s->sums[i] != 0;
                }
                uint32_t at = 0;
                r = aggregate_add(self->aggregate, &batch, &at, error);
        }
        return r == FST_AGGREGATE_E_FULL ? error_set(error, -ENOMEM, "no memory to combine by key or to spill") : r;
}

/* Pushes the combined rows, after which there are none. */
static int combine_push(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        int r = 0;
        for (size_t i = 0; i < self->shared.len && r == 0; i++)
                r = combine_add_sums(self, &self->shared.data[i], &error);
        combine_forget_shared(self);
        while (r == 0 && (r = aggregate_next(self->aggregate, &rows.batch, NULL, &error)) == 0 && rows.batch.rows > 0) {
                r = op_push(op, &rows);
                if (r)
                        break;
        }
        if (r < 0)
                task_run_fail_with(op->run, r, &error);
        return r;
}

static int combine_end(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        int r = combine_push(op);
        struct aggregate_stats stats = aggregate_stats(self->aggregate);
        op->run->counters.disk_spilled += (int64_t)stats.spilled_bytes;
        op->class->abandon(op);
        return r;
}

static void combine_abandon(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        combine_forget_shared(self);
        if (self->started) {
                aggregate_reset(self->aggregate);
                memory_consumer_deinit(&self->memory);
        }
        self->started = false;
}

static void combine_free(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        combine_forget_shared(self);
        vec_deinit(&self->shared);
        aggregate_free(self->aggregate);
        op_free(self->emitted);
        op_deinit(op);
        free(self);
}

static const struct op_class combine_class = {
        "reduce_by_key",    .begin = combine_begin,     .consume = combine_consume, .borrow = combine_borrow,
        .end = combine_end, .abandon = combine_abandon, .free = combine_free,       .bucket_end = combine_push,
};

struct op *combine_op_new_taking(struct task_run *run, fst_type type, const struct aggregate_values *values,
                                 const fst_fn *fn)
{
        struct combine_op *self = new0(struct combine_op);
        op_init(&self->op, &combine_class, run, type);
        self->fn = *fn;
        self->aggregate = aggregate_new();
        self->values = values;
        self->adds = !values && type.key == FST_KIND_BYTES && type.value == FST_KIND_I64 &&
                     fn->shape == FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_SUM, 0);
        self->emitted = combine_out_for(run, type, values, fn);
        return &self->op;
}

struct op *combine_op_new(struct task_run *run, fst_type type, const fst_fn *fn)
{
        return combine_op_new_taking(run, type, NULL, fn);
}

int combine_check(fst_type value, const fst_fn *fn, struct fst_error *error)
{
        return combine_rows_check(value, NULL, fn, error);
}
