/* Operators that add and remove keys: key_by, keys, values, flat_map_values; and pairs packed into one column, for
 * operators that compare whole rows. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "rdd/pipeline/op_flat_map_values.h"
#include "rdd/pipeline/op_key.h"

fst_rdd *rdd_key_by(fst_rdd *parent, const fst_fn *key, fst_type key_type, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_type keyed = fst_type_pair(key_type, key_op_value(parent->type));
        fst_rdd *rdd = rdd_new(parent->sc, RDD_KEY_BY, keyed, parent, site);
        rdd_check_one_column(rdd, key_type, "the keys");
        rdd_set_fn(rdd, key);
        rdd_depend_narrowly(rdd, false);
        int r = rdd->status ? 0 : element_check(ELEMENT_MAP, parent->type, key_type, key, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

fst_rdd *rdd_rows_of(fst_rdd *keyed, fst_type type, fst_site site)
{
        fst_rdd *rdd = rdd_new(keyed->sc, RDD_VALUES, type, keyed, site);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

FST_API fst_rdd *fst_key_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return rdd_key_by(rdd, &key, key_type, site);
}

FST_API fst_rdd *fst_values_at(fst_rdd *pairs, fst_site site)
{
        pairs = rdd_given(pairs, site);
        fst_rdd *rdd = rdd_rows_of(pairs, pairs->type.value ? rdd_value_type(pairs->type) : pairs->type, site);
        return pairs->type.value ? rdd : rdd_fail(rdd, -EINVAL, "values needs pairs");
}

static int key_by_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        fst_type key = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        if (!fst_type_equal(rdd_value_type(rdd->type), key_op_value(rdd_parent(rdd)->type)))
                return rdd_wire_bad(rdd, error, "its values are not its parent's rows");
        return rdd_wire_check_element(rdd, ELEMENT_MAP, key, error);
}

static struct op *key_by_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return key_op_new(run, rdd_parent(rdd)->type, rdd->type, &rdd->fn);
}

const struct rdd_class rdd_key_by_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = key_by_decode,
        .op_new = key_by_op_new,
};

static int values_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        if (!fst_type_equal(rdd_value_type(rdd_parent(rdd)->type), key_op_value(rdd->type)))
                return rdd_wire_bad(rdd, error, "its type is not that of its parent's values");
        return rdd_wire_check_partitions(rdd, error);
}

static struct op *values_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return value_op_new(run, rdd_parent(rdd)->type, rdd->type);
}

const struct rdd_class rdd_values_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .decode = values_decode,
        .op_new = values_op_new,
};

/* ------------------------------------------------------------------------------------------------------- keys */

FST_API fst_rdd *fst_keys_at(fst_rdd *pairs, fst_site site)
{
        pairs = rdd_given(pairs, site);
        fst_type key = {.key = pairs->type.key, .key_size = pairs->type.key_size};
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_KEYS, key, pairs, site);
        rdd_depend_narrowly(rdd, false);
        return pairs->type.value ? rdd : rdd_fail(rdd, -EINVAL, "keys needs pairs");
}

static int keys_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        fst_type pairs = rdd_parent(rdd)->type;
        if (!pairs.value || rdd->type.value || rdd->type.key != pairs.key || rdd->type.key_size != pairs.key_size)
                return rdd_wire_bad(rdd, error, "its type is not that of its parent's keys");
        return rdd_wire_check_partitions(rdd, error);
}

static struct op *keys_new(const fst_rdd *rdd, struct task_run *run)
{
        return keys_op_new(run, rdd_parent(rdd)->type);
}

const struct rdd_class rdd_keys_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .passes_samples = true,
        .decode = keys_decode,
        .op_new = keys_new,
};

/* -------------------------------------------------------------------------------------------- flat_map_values */

FST_API fst_rdd *fst_flat_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_FLAT_MAP_VALUES, fst_type_pair(pairs->type, value), pairs, site);
        rdd_check_one_column(rdd, value, "the new values");
        rdd_set_fn(rdd, &f);
        rdd_depend_narrowly(rdd, true);
        int r = rdd->status ? 0 : flat_map_values_check(pairs->type, rdd->type, &f, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

static int flat_map_values_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                                  struct fst_error *error)
{
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r
                 : rdd_wire_bad_with(rdd, flat_map_values_check(rdd_parent(rdd)->type, rdd->type, &rdd->fn, error),
                                     error);
}

static struct op *flat_map_values_new(const fst_rdd *rdd, struct task_run *run)
{
        return flat_map_values_op_new(run, rdd_parent(rdd)->type, rdd->type, &rdd->fn);
}

const struct rdd_class rdd_flat_map_values_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = flat_map_values_decode,
        .op_new = flat_map_values_new,
};

/* ---------------------------------------------------------------------------------------- pairs in one column */

fst_rdd *rdd_packed(fst_rdd *parent, fst_site site)
{
        if (!parent->type.value)
                return parent;
        fst_rdd *rdd = rdd_new(parent->sc, RDD_PACK, FST_BYTES, parent, site);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

fst_rdd *rdd_unpacked(fst_rdd *parent, fst_type type, fst_site site)
{
        if (!type.value)
                return parent;
        fst_rdd *rdd = rdd_new(parent->sc, RDD_UNPACK, type, parent, site);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

static int pack_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        if (!rdd_parent(rdd)->type.value || !fst_type_equal(rdd->type, FST_BYTES))
                return rdd_wire_bad(rdd, error, "it must turn pairs into BYTES");
        return rdd_wire_check_partitions(rdd, error);
}

static struct op *pack_new(const fst_rdd *rdd, struct task_run *run)
{
        return pack_op_new(run);
}

const struct rdd_class rdd_pack_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .passes_samples = true,
        .decode = pack_decode,
        .op_new = pack_new,
};

static int unpack_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        if (!rdd->type.value || !fst_type_equal(rdd_parent(rdd)->type, FST_BYTES))
                return rdd_wire_bad(rdd, error, "it must turn BYTES into pairs");
        return rdd_wire_check_partitions(rdd, error);
}

static struct op *unpack_new(const fst_rdd *rdd, struct task_run *run)
{
        return unpack_op_new(run, rdd->type);
}

const struct rdd_class rdd_unpack_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .passes_samples = true,
        .decode = unpack_decode,
        .op_new = unpack_new,
};
