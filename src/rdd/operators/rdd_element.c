/* Operators that call a function for each row or partition: map, flat_map, filter, map_values, map_partitions. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/pipeline/op_iter.h"

static fst_rdd *element_init(fst_rdd *rdd, enum element_kind kind, const fst_fn *f, bool keep_partitioner)
{
        struct fst_error error = FST_ERROR_INIT;
        rdd_set_fn(rdd, f);
        rdd_depend_narrowly(rdd, keep_partitioner);
        if (rdd->status)
                return rdd;
        int r = element_check(kind, rdd_parent(rdd)->type, rdd->type, f, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

static fst_rdd *element_rdd_new(fst_rdd *parent, enum rdd_op op, enum element_kind kind, const fst_fn *f, fst_type type,
                                bool keep_partitioner, fst_site site)
{
        return element_init(rdd_new(parent->sc, op, type, parent, site), kind, f, keep_partitioner);
}

static struct op *element_op(enum element_kind kind, const fst_rdd *rdd, struct task_run *run)
{
        return element_op_new(kind, run, rdd_parent(rdd)->type, rdd->type, &rdd->fn);
}

/* -------------------------------------------------------------------------------------------------------- map */

FST_API fst_rdd *fst_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return element_rdd_new(rdd, RDD_MAP, ELEMENT_MAP, &f, type, false, site);
}

static int map_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        return rdd_wire_check_element(rdd, ELEMENT_MAP, rdd->type, error);
}

static struct op *map_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return element_op(ELEMENT_MAP, rdd, run);
}

const struct rdd_class rdd_map_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = map_decode,
        .op_new = map_op_new,
};

/* --------------------------------------------------------------------------------------------------- flat_map */

FST_API fst_rdd *fst_flat_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return element_rdd_new(rdd, RDD_FLAT_MAP, ELEMENT_FLAT_MAP, &f, type, false, site);
}

static int flat_map_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                           struct fst_error *error)
{
        return rdd_wire_check_element(rdd, ELEMENT_FLAT_MAP, rdd->type, error);
}

static struct op *flat_map_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return element_op(ELEMENT_FLAT_MAP, rdd, run);
}

const struct rdd_class rdd_flat_map_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = flat_map_decode,
        .op_new = flat_map_op_new,
};

/* ----------------------------------------------------------------------------------------------------- filter */

FST_API fst_rdd *fst_filter_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return element_rdd_new(rdd, RDD_FILTER, ELEMENT_FILTER, &f, rdd->type, true, site);
}

static int filter_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        int r = rdd_wire_check_type(rdd, error);
        return r ? r : rdd_wire_check_element(rdd, ELEMENT_FILTER, rdd->type, error);
}

static struct op *filter_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return element_op(ELEMENT_FILTER, rdd, run);
}

const struct rdd_class rdd_filter_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = filter_decode,
        .op_new = filter_op_new,
};

/* ------------------------------------------------------------------------------------------------- map_values */

FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site)
{
        pairs = rdd_given(pairs, site);
        fst_type type = pairs->type;
        type.value = value.key;
        type.value_size = value.key_size;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_MAP_VALUES, type, pairs, site);
        rdd_check_one_column(rdd, value, "the new values");
        return element_init(rdd, ELEMENT_MAP_VALUES, &f, true);
}

static int map_values_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                             struct fst_error *error)
{
        fst_type in = rdd_parent(rdd)->type;
        if (!rdd->type.value || rdd->type.key != in.key || rdd->type.key_size != in.key_size)
                return rdd_wire_bad(rdd, error, "map_values keeps keys");
        return rdd_wire_check_element(rdd, ELEMENT_MAP_VALUES, rdd->type, error);
}

static struct op *map_values_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return element_op(ELEMENT_MAP_VALUES, rdd, run);
}

const struct rdd_class rdd_map_values_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .passes_samples = true,
        .decode = map_values_decode,
        .op_new = map_values_op_new,
};

/* --------------------------------------------------------------------------------------------- map_partitions */

static bool map_partitions_by_iterator(const fst_rdd *rdd)
{
        return FST_SHAPE_FORM(rdd->fn.shape) == FST_FORM_ITER || FST_SHAPE_FORM(rdd->fn.shape) == FST_FORM_ITER_AT;
}

FST_API fst_rdd *fst_map_partitions_at(fst_rdd *parent, fst_fn f, fst_type type, fst_site site)
{
        parent = rdd_given(parent, site);
        if (FST_SHAPE_FORM(f.shape) != FST_FORM_ITER)
                return element_rdd_new(parent, RDD_MAP_PARTITIONS, ELEMENT_BATCHES, &f, type, false, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_MAP_PARTITIONS, type, parent, site);
        rdd_set_fn(rdd, &f);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

FST_API fst_rdd *fst_map_partitions_with_index_at(fst_rdd *parent, fst_fn f, fst_type type, fst_site site)
{
        parent = rdd_given(parent, site);
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *rdd = rdd_new(parent->sc, RDD_MAP_PARTITIONS, type, parent, site);
        rdd_set_fn(rdd, &f);
        rdd_depend_narrowly(rdd, false);
        if (FST_SHAPE_FORM(f.shape) == FST_FORM_ITER_AT)
                return rdd;
        error_set(&error, -EINVAL,
                  "%s is not a function that map_partitions_with_index can call: that takes the partition's number, an "
                  "iterator, and where to emit",
                  rdd->fn.name);
        return rdd_fail_with(rdd, -EINVAL, &error);
}

FST_API fst_rdd *fst_barrier_map_partitions_at(fst_rdd *parent, fst_fn f, fst_type type, fst_site site)
{
        parent = rdd_given(parent, site);
        fst_rdd *rdd = fst_map_partitions_at(parent, f, type, site);
        rdd->lineage.barrier = true;
        return rdd;
}

static int map_partitions_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                                 struct fst_error *error)
{
        if (map_partitions_by_iterator(rdd))
                return rdd_wire_check_partitions(rdd, error);
        return rdd_wire_check_element(rdd, ELEMENT_BATCHES, rdd->type, error);
}

static struct op *map_partitions_op_new(const fst_rdd *rdd, struct task_run *run)
{
        if (map_partitions_by_iterator(rdd))
                return iter_op_new(run, rdd_parent(rdd)->type, rdd->type, &rdd->fn);
        return element_op(ELEMENT_BATCHES, rdd, run);
}

const struct rdd_class rdd_map_partitions_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .chooses_keys = true,
        .decode = map_partitions_decode,
        .op_new = map_partitions_op_new,
};
