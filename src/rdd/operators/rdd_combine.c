/*
 * Combining by key: reduce_by_key, fold_by_key, aggregate_by_key, combine_by_key, and distinct, which combines whole
 * rows without values.
 *
 * This is a shuffle that combines on both sides or, if the parent already has the right partitioner, an operator in the
 * parent's task. Accumulators start from the zero value. So, as in Spark, it counts once for each key of each
 * partition, and more often if memory runs short: a zero value should be neutral.
 */
#include "rdd/default_partitioner.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/struct_wire.h"

#include "base/mem.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/aggregate/combine_rows.h"
#include "rdd/aggregate/op_combine.h"
#include "structs/struct_row.h"

#include <firesteel/pair.h>
#include <firesteel/transform.h>

/* ---------------------------------------------------------------------------------------------------- building */

/* Copies the value of @type (one column) at @value, followed by its bytes. */
static void *combine_copy_value(const void *value, fst_type type)
{
        if (type.key != FST_KIND_BYTES)
                return memcpy(mem_alloc(type.key_size), value, type.key_size);
        fst_bytes from = *(const fst_bytes *)value, *to = mem_alloc(sizeof(*to) + from.len);
        *to = (fst_bytes){(char *)(to + 1), from.len};
        if (from.len)
                memcpy(to + 1, from.data, from.len);
        return to;
}

static void combine_set_values(fst_rdd *rdd, const struct aggregate_values *values)
{
        rdd->values = new0(struct aggregate_values);
        rdd->values->type = values->type;
        if (values->zero)
                rdd->values->zero = combine_copy_value(values->zero, rdd_value_type(rdd->type));
        else
                rdd_copy_fn(rdd, &rdd->values->create, &values->create);
        rdd_copy_fn(rdd, &rdd->values->merge, &values->merge);
}

/* Makes the RDD depend on its parent: by a shuffle with @p, or narrowly if @in_place. */
static void combine_place(fst_rdd *rdd, const struct partitioner *p, bool in_place)
{
        if (in_place) {
                rdd_set_op(rdd, RDD_COMBINE);
                rdd_depend_narrowly(rdd, true);
                return;
        }
        rdd->shuffle.partitioner = *p;
        rdd->shuffle.combine = true;
        rdd_depend_on_shuffle(rdd);
}

/* Builds the RDD that combines pairs into pairs of @type. @values is as in struct aggregate_options. */
static fst_rdd *combine_rdd_new(fst_rdd *pairs, fst_type type, const struct aggregate_values *values, const fst_fn *f,
                                int partitions, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        struct partitioner hash, *p = NULL;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_SHUFFLED, type, pairs, site);
        char text[64];
        int r = 0;
        rdd_set_fn(rdd, f);
        if (rdd->status)
                r = 0;
        else if (!pairs->type.value)
                r = error_set(&error, -EINVAL, "%s needs pairs, but the rows are %s", site.operation,
                              fst_type_name(pairs->type, text));
        else if (partitions < 0)
                r = error_set(&error, -EINVAL, "Number of partitions cannot be negative");
        else if ((r = combine_rows_check(rdd_value_type(type), values, f, &error)) == 0 && values)
                combine_set_values(rdd, values);
        if (r)
                rdd_fail_with(rdd, r, &error);
        if (!rdd->status)
                p = rdd_choose_partitioner(&pairs, 1, partitions, &hash);
        if (!rdd->status && !p)
                rdd_fail_as(rdd, pairs);
        if (!p)
                partitioner_init_hash(&hash, 1, pairs->type);
        combine_place(rdd, p ? p : &hash, p && partitioner_equal(pairs->partitioner, p));
        return rdd;
}

FST_API fst_rdd *fst_reduce_by_key_at(fst_rdd *pairs, fst_fn f, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        return combine_rdd_new(pairs, pairs->type, NULL, &f, partitions, site);
}

/* Builds an RDD with accumulators. Invalid if the accumulator's type is not one column. */
static fst_rdd *combine_rdd_new_taking(fst_rdd *pairs, fst_type accumulator, struct aggregate_values *values,
                                       const fst_fn *combine, int partitions, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        values->type = pairs->type;
        if (accumulator.value || !accumulator.key || fst_type_check(accumulator, &error)) {
                char text[64];
                error_set(&error, -EINVAL, "%s takes the type of an accumulator, not the pair %s", site.operation,
                          fst_type_name(accumulator, text));
                return rdd_fail_with(rdd_new(pairs->sc, RDD_SHUFFLED, pairs->type, pairs, site), -EINVAL, &error);
        }
        return combine_rdd_new(pairs, fst_type_pair(pairs->type, accumulator), values, combine, partitions, site);
}

static fst_rdd *combine_rdd_without_zero(fst_rdd *pairs, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        error_set(&error, -EINVAL, "%s was given NULL instead of an initial value", site.operation);
        return rdd_fail_with(rdd_new(pairs->sc, RDD_SHUFFLED, pairs->type, pairs, site), -EINVAL, &error);
}

FST_API fst_rdd *fst_aggregate_by_key_at(fst_rdd *pairs, fst_constant zero, fst_fn merge_value, fst_fn merge_combiners,
                                         int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        if (!zero.at)
                return combine_rdd_without_zero(pairs, site);
        struct aggregate_values values = {.zero = zero.at, .merge = merge_value};
        return combine_rdd_new_taking(pairs, fst_constant_type(zero), &values, &merge_combiners, partitions, site);
}

FST_API fst_rdd *fst_combine_by_key_at(fst_rdd *pairs, fst_fn create, fst_fn merge_value, fst_fn merge_combiners,
                                       fst_type type, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct aggregate_values values = {.create = create, .merge = merge_value};
        return combine_rdd_new_taking(pairs, type, &values, &merge_combiners, partitions, site);
}

/* fold_by_key of values that are structs with fields. */
static fst_rdd *combine_rdd_fold_structs(fst_rdd *pairs, const struct struct_type *s, const void *zero, const fst_fn *f,
                                         int partitions, fst_site site)
{
        size_t size = struct_row_size(s, zero);
        _cleanup_free_ char *row = mem_alloc(size + 1);
        struct_row_write(s, zero, row);
        fst_bytes encoded = {row, size};
        struct aggregate_values values = {.zero = &encoded, .merge = *f};
        return combine_rdd_new_taking(pairs, rdd_value_type(pairs->type), &values, f, partitions, site);
}

FST_API fst_rdd *fst_fold_by_key_at(fst_rdd *pairs, fst_constant zero, fst_fn f, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        if (!zero.at)
                return combine_rdd_without_zero(pairs, site);
        fst_type value = rdd_value_type(pairs->type), type = fst_constant_type(zero);
        char have[64], given[64];
        const struct struct_type *s = struct_type_of_column(value.key, value.key_size);
        if (s && s->size == zero.size)
                return combine_rdd_fold_structs(pairs, s, zero.at, &f, partitions, site);
        if (!pairs->status && pairs->type.value && !fst_type_equal(type, value)) {
                struct fst_error error = FST_ERROR_INIT;
                error_set(&error, -EINVAL, "fold_by_key takes a zero of the values' type, but they are %s and it is %s",
                          fst_type_name(value, have), fst_type_name(type, given));
                return rdd_fail_with(rdd_new(pairs->sc, RDD_SHUFFLED, pairs->type, pairs, site), -EINVAL, &error);
        }
        return fst_aggregate_by_key_at(pairs, zero, f, f, partitions, site);
}

/* Pairs with a partitioner have equal rows in one partition already. */
FST_API fst_rdd *fst_distinct_at(fst_rdd *rows, int partitions, fst_site site)
{
        rows = rdd_given(rows, site);
        struct partitioner hash;
        int first = rdd_registry_next_id(rows->sc);
        fst_rdd *packed = rdd_packed(rows, site);
        fst_rdd *rdd = rdd_new(packed->sc, RDD_SHUFFLED, packed->type, packed, site);
        rdd_set_fn(rdd, &fst_fn_first);
        if (!rdd->status && partitions < 0)
                rdd_fail(rdd, -EINVAL, "Number of partitions cannot be negative");
        if (!rdd->status && rdd_plan(rows))
                rdd_fail_as(rdd, rows);
        int n = rdd->status ? 1 : partitions ? partitions : MAX(rows->lineage.partitions, 1);
        bool in_place = !rdd->status && rows->type.value && rows->partitioner && n == rows->lineage.partitions;
        partitioner_init_hash(&hash, n, packed->type);
        combine_place(rdd, &hash, in_place);
        rdd->partitioner = NULL; /* as in Spark: only pairs have a partitioner */
        rdd = rdd_unpacked(rdd, rows->type, site);
        if (in_place)
                rdd->partitioner = rows->partitioner;
        return rdd_release_intermediates(rdd, first);
}

/* ---------------------------------------------------------------------------------------- values on the wire */

int rdd_wire_encode_values(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Combiner **out,
                           struct fst_error *error)
{
        const struct aggregate_values *values = rdd->values;
        Firesteel__Combiner *m = arena_alloc(&w->arena, sizeof(*m));
        firesteel__combiner__init(m);
        m->kind = rdd->type.value;
        m->size = m->kind == FST_KIND_FIXED ? rdd->type.value_size : 0;
        m->accumulator_struct = struct_wire_encode(&w->arena, rdd->type.value, rdd->type.value_size);
        int r = w->function(w, &values->merge, &m->merge, error);
        if (r == 0 && !values->zero)
                r = w->function(w, &values->create, &m->create, error);
        if (values->zero) {
                fst_bytes zero = m->kind == FST_KIND_BYTES ? *(const fst_bytes *)values->zero
                                                           : (fst_bytes){values->zero, rdd->type.value_size};
                m->zero.data = (uint8_t *)zero.data;
                m->zero.len = zero.len;
        }
        if (r == 0)
                *out = m;
        return r;
}

static int combine_decode_zero(struct rdd_wire_reader *reader, const Firesteel__Combiner *m, fst_rdd *rdd,
                               struct aggregate_values *values, struct fst_error *error)
{
        if (m->kind != FST_KIND_BYTES && m->zero.len != rdd->type.value_size)
                return rdd_wire_bad(rdd, error, "its zero value does not have its accumulators' type");
        void *zero = wire_array(reader->memory, 1, MAX(m->zero.len, sizeof(fst_bytes)));
        if (!zero)
                return rdd_wire_too_big(error);
        if (m->kind == FST_KIND_BYTES)
                *(fst_bytes *)zero = (fst_bytes){(const char *)m->zero.data, m->zero.len};
        else
                memcpy(zero, m->zero.data, m->zero.len);
        values->zero = zero;
        return 0;
}

int rdd_wire_decode_values(struct rdd_wire_reader *reader, const Firesteel__Combiner *m, fst_type in, fst_rdd *rdd,
                           struct fst_error *error)
{
        struct aggregate_values *values = wire_array(reader->memory, 1, sizeof(*values));
        if (!values)
                return rdd_wire_too_big(error);
        if (!in.value || m->kind == FST_KIND_NONE || m->kind > FST_KIND_FIXED || !m->merge)
                return rdd_wire_bad(rdd, error, "its functions do not fit its values and accumulators");
        fst_type value = {.key = (uint8_t)m->kind,
                          .key_size = m->kind == FST_KIND_FIXED   ? m->size
                                      : m->kind == FST_KIND_BYTES ? 0
                                                                  : 8};
        int r = value.key == FST_KIND_BYTES ? struct_wire_decode(m->accumulator_struct, &value.key_size, error) : 0;
        rdd->type = fst_type_pair(in, value);
        values->type = in;
        rdd->values = values;
        if (r == 0)
                r = fst_type_check(rdd->type, error);
        r = rdd_wire_bad_with(rdd, r, error);
        if (r == 0)
                r = reader->function(reader, m->merge, &values->merge, error);
        if (r == 0)
                r = m->create ? reader->function(reader, m->create, &values->create, error)
                              : combine_decode_zero(reader, m, rdd, values, error);
        return r;
}

int rdd_wire_check_combine(const fst_rdd *rdd, struct fst_error *error)
{
        return rdd_wire_bad_with(rdd, combine_rows_check(rdd_value_type(rdd->type), rdd->values, &rdd->fn, error),
                                 error);
}

/* ------------------------------------------------------------------------------------------------- COMBINE */

static int combine_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        return rdd->values ? rdd_wire_encode_values(w, rdd, &m->combiner, error) : 0;
}

static int combine_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                          struct fst_error *error)
{
        fst_type type = rdd->type, in = rdd_parent(rdd)->type;
        int r = rdd_wire_check_partitions(rdd, error);
        if (r == 0)
                r = m->combiner ? rdd_wire_decode_values(reader, m->combiner, in, rdd, error)
                                : rdd_wire_check_type(rdd, error);
        if (r == 0 && !fst_type_equal(type, rdd->type))
                r = rdd_wire_bad(rdd, error, "it combines rows of another type");
        return r ? r : rdd_wire_check_combine(rdd, error);
}

static struct op *combine_new(const fst_rdd *rdd, struct task_run *run)
{
        return combine_op_new_taking(run, rdd->type, rdd->values, &rdd->fn);
}

const struct rdd_class rdd_combine_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .encode = combine_encode,
        .decode = combine_decode,
        .op_new = combine_new,
};
