/*
 * The stages of tree_reduce and tree_aggregate: each partition becomes one value.
 *
 * The first stage combines rows. Later stages combine values that a shuffle has brought together: those of neighbouring
 * partitions, in the order of the partitions, which are the keys. (Spark brings together every n-th partition's values
 * in arrival order, so that its functions must be commutative; here they need not be.) As in Spark the zero counts once
 * for each partition, and for each value that such a shuffle moves.
 */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/aggregate/op_reduce.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------- in a task */

struct folded_op {
        struct op op;
        fst_type value;
        struct op *all;  /* combines everything */
        struct op *each; /* combines one value with the zero; NULL: there is no zero, or the input is rows */
        bool values;
};

static struct folded_op *folded_of(struct op *op)
{
        return container_of(op, struct folded_op, op);
}

static int folded_begin(struct op *op)
{
        return op_begin(folded_of(op)->all);
}

static int folded_take_on_zero(struct folded_op *self, const struct rows *value)
{
        struct reduce_value one;
        int r = op_begin(self->each);
        if (r == 0)
                r = self->each->class->consume(self->each, value);
        if (r)
                return r;
        reduce_op_take(self->each, &one);
        r = reduce_op_add(self->all, &one);
        reduce_value_deinit(&one);
        return r;
}

static int folded_consume(struct op *op, const struct rows *in)
{
        struct folded_op *self = folded_of(op);
        if (!self->values)
                return self->all->class->consume(self->all, in);
        struct rows values = *in;
        values.batch.type = self->value;
        values.batch.key = in->batch.value;
        if (!self->each)
                return self->all->class->consume(self->all, &values);
        int r = 0;
        for (uint32_t i = 0; i < in->batch.rows && r == 0; i++) {
                struct rows one = rows_part(&values, i, 1);
                r = folded_take_on_zero(self, &one);
        }
        return r;
}

static int folded_end(struct op *op)
{
        struct folded_op *self = folded_of(op);
        struct reduce_value value;
        int64_t partition = op->partition;
        reduce_op_take(self->all, &value);
        fst_bytes bytes = {value.data, value.size};
        struct rows rows = {.batch = {.rows = value.present, .type = op->type, .key.i64 = &partition}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)value.data, value.size};
        if (self->value.key == FST_KIND_BYTES)
                rows.batch.value.bytes = &bytes;
        else if (self->value.key == FST_KIND_FIXED)
                rows.batch.value.fixed = value.data;
        else
                rows.batch.value.i64 = &value.number;
        int r = value.present ? op_push(op, &rows) : 0;
        reduce_value_deinit(&value);
        return r;
}

static void folded_free(struct op *op)
{
        struct folded_op *self = folded_of(op);
        op_free(self->all);
        op_free(self->each);
        op_deinit(op);
        free(self);
}

static const struct op_class folded_op_class = {"tree_aggregate", .begin = folded_begin, .consume = folded_consume,
                                                .end = folded_end, .free = folded_free};

static struct op *folded_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct folded_op *self = new0(struct folded_op);
        const struct reduce_value *zero = rdd->fold.zero;
        op_init(&self->op, &folded_op_class, run, rdd->type);
        self->value = rdd_value_type(rdd->type);
        self->values = rdd->fold.values;
        if (!self->values) {
                self->all = reduce_op_new(run, rdd_parent(rdd)->type, self->value, &rdd->fn, zero);
                return &self->op;
        }
        self->all = reduce_op_new(run, self->value, self->value, &rdd->fn, NULL);
        if (zero)
                self->each = reduce_op_new(run, self->value, self->value, &rdd->fn, zero);
        return &self->op;
}

/* ---------------------------------------------------------------------------------------------------- building */

static fst_rdd *folded_rdd_new(fst_rdd *parent, const fst_fn *fn, fst_type value, const struct reduce_value *zero,
                               bool values, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *rdd = rdd_new(parent->sc, RDD_FOLDED, fst_type_pair(FST_I64, value), parent, site);
        rdd_set_fn(rdd, fn);
        rdd_depend_narrowly(rdd, false);
        rdd->fold.values = values;
        if (zero) {
                rdd->fold.zero = new0(struct reduce_value);
                reduce_value_copy(rdd->fold.zero, zero);
        }
        int r = rdd->status ? 0 : reduce_check(values ? value : parent->type, value, fn, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

/* Shuffles values of neighbouring partitions together, in order, into @n partitions of equal share. */
static fst_rdd *folded_rdd_group(fst_rdd *parent, int partitions, int n, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SHUFFLED, parent->type, parent, site);
        _cleanup_free_ struct sample_key *keys = new_array(struct sample_key, (size_t)partitions);
        for (int i = 0; i < partitions; i++) {
                int64_t key = i;
                keys[i] = (struct sample_key){.prefix = key_prefix(FST_I64, (fst_column){.i64 = &key}, 0), .weight = 1};
        }
        partitioner_init_range(&rdd->shuffle.partitioner, n, parent->type, FST_ASCENDING);
        partitioner_set_bounds(&rdd->shuffle.partitioner, keys, (size_t)partitions);
        rdd->shuffle.sort = true;
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

fst_rdd *rdd_fold_tree(fst_rdd *parent, const fst_fn *take, const fst_fn *combine, fst_type value,
                       const struct reduce_value *zero, int depth, fst_site site)
{
        int n = parent->lineage.partitions, scale = (int)MAX(ceil(pow(n, 1.0 / depth)), 2.0);
        fst_rdd *rdd = folded_rdd_new(parent, take, value, zero, false, site);
        while (!rdd->status && n > scale + (n + scale - 1) / scale) {
                fst_rdd *shuffled = folded_rdd_group(rdd, n, n / scale, site);
                n /= scale;
                rdd = folded_rdd_new(shuffled, combine, value, zero, true, site);
        }
        return rdd_rows_of(rdd, value, site);
}

static void folded_rdd_free(fst_rdd *rdd)
{
        if (rdd->fold.zero)
                reduce_value_deinit(rdd->fold.zero);
        free(rdd->fold.zero);
}

/* ---------------------------------------------------------------------------------------------------- on the wire */

static int folded_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        const struct reduce_value *zero = rdd->fold.zero;
        uint8_t kind = rdd->type.value;
        Firesteel__Fold *fold = arena_alloc(&w->arena, sizeof(*fold));
        firesteel__fold__init(fold);
        fold->values = rdd->fold.values;
        fold->has_zero = zero != NULL;
        if (zero && (kind == FST_KIND_I64 || kind == FST_KIND_F64)) {
                fold->zero.data = (uint8_t *)&zero->number;
                fold->zero.len = 8;
        } else if (zero) {
                fold->zero.data = (uint8_t *)zero->data;
                fold->zero.len = zero->size;
        }
        m->fold = fold;
        return 0;
}

static int folded_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                         struct fst_error *error)
{
        const Firesteel__Fold *m = message->fold;
        fst_type value = rdd_value_type(rdd->type), parent = rdd_parent(rdd)->type;
        if (!m || rdd->type.key != FST_KIND_I64 || !value.key || (m->values && !fst_type_equal(parent, rdd->type)) ||
            (m->has_zero && value.key != FST_KIND_BYTES && m->zero.len != value.key_size))
                return rdd_wire_bad(rdd, error, "its function does not fit its rows");
        rdd->fold.values = m->values;
        if (m->has_zero) {
                struct reduce_value *zero = rdd->fold.zero = wire_array(reader->memory, 1, sizeof(*zero));
                if (!zero)
                        return rdd_wire_too_big(error);
                zero->present = true;
                zero->data = (char *)m->zero.data;
                zero->size = m->zero.len;
                if (value.key == FST_KIND_I64 || value.key == FST_KIND_F64)
                        memcpy(&zero->number, m->zero.data, 8);
        }
        if (!m->values && !m->has_zero && !fst_type_equal(parent, value))
                return rdd_wire_bad(rdd, error, "its zero value is missing");
        int r = reduce_check(m->values ? value : parent, value, &rdd->fn, error);
        return r ? rdd_wire_bad_with(rdd, r, error) : rdd_wire_check_partitions(rdd, error);
}

const struct rdd_class rdd_folded_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .free = folded_rdd_free,
        .encode = folded_encode,
        .decode = folded_decode,
        .op_new = folded_op_new,
};
