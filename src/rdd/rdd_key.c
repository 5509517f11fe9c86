/* Rows with a key computed from each before it, and rows that such pairs carry: what sort_by is made of. */
#include "rdd/rdd_make.h"
#include "rdd/rdd_wire_class.h"

#include "rdd/op_key.h"

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

static int key_by_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        fst_type key = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        if (!fst_type_equal(rdd_value_type(rdd->type), key_op_value(rdd_parent(rdd)->type)))
                return rdd_wire_bad(rdd, error, "the rows that it puts keys to are not its parent's");
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
                return rdd_wire_bad(rdd, error, "its rows are not its parent's values");
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
