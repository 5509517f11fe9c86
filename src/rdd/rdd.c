/*
 * Building lineage: the sources and transformations of the public interface (firesteel/source.h, transform.h, pair.h).
 *
 * Every function returns an RDD, always. One that cannot be (its own arguments, or a parent that cannot be) carries
 * status and message; nothing is computed from it, and the action at its end reports the first cause.
 */
#include "rdd/rdd.h"

#include "base/mem.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"
#include "rdd/op_key.h"
#include "rdd/rdd_make.h"
#include "rdd/rdd_registry.h"
#include "store/block_store.h"
#include "store/storage_level.h"

#include <limits.h>

/* ------------------------------------------------------------------------------------------------- making */

static const char *base_name(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;
        return slash ? slash + 1 : path ? path : "?";
}

fst_rdd *rdd_fail(fst_rdd *rdd, int status, const char *message)
{
        if (!rdd->status)
                rdd->status = error_set(&rdd->error, status, "%s (%s)", message, rdd->call_site);
        return rdd;
}

fst_rdd *rdd_fail_with(fst_rdd *rdd, int status, struct fst_error *error)
{
        rdd_fail(rdd, status, error_message(error));
        error_deinit(error);
        return rdd;
}

static void check_type(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = fst_type_check(rdd->type, &error);
        if (r)
                rdd_fail_with(rdd, r, &error);
}

/* It cannot be because @parent cannot. */
static int fail_as(fst_rdd *rdd, const fst_rdd *parent)
{
        if (!rdd->status)
                rdd->status = error_set(&rdd->error, parent->status, "%s", error_message(&parent->error));
        return rdd->status;
}

fst_rdd *rdd_new_of(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *const *parents, int n, fst_site site)
{
        fst_rdd *rdd = new0(fst_rdd);
        rdd->sc = sc;
        rdd->op = op;
        rdd->type = type;
        rdd->n_parents = n;
        rdd->parents = n ? new_array(fst_rdd *, (size_t)n) : NULL;
        rdd->site = site;
        rdd->call_site = mem_printf("%s at %s:%d", site.operation, base_name(site.file), site.line);
        rdd->lineage.call_site = rdd->call_site;
        rdd->lineage.name = site.operation;
        rdd_registry_add(sc, rdd);
        for (int i = 0; i < n; i++) {
                rdd->parents[i] = parents[i];
                if (parents[i]->status)
                        fail_as(rdd, parents[i]);
        }
        if (!rdd->status)
                check_type(rdd);
        return rdd;
}

static fst_rdd *rdd_new(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *parent, fst_site site)
{
        return rdd_new_of(sc, op, type, &parent, parent ? 1 : 0, site);
}

void rdd_set_fn(fst_rdd *rdd, const fst_fn *fn)
{
        struct fst_error error = FST_ERROR_INIT;
        const char *name = NULL;
        int r = rdd_registry_describe(rdd->sc, fn, &name, &error);
        if (r)
                rdd_fail_with(rdd, r, &error);
        rdd->fn = *fn;
        rdd->fn.name = mem_strdup(name ? name : "a function");
        if (fn->captured) {
                void *copy = mem_alloc(fn->captured_size);
                memcpy(copy, fn->captured, fn->captured_size);
                rdd->fn.captured = copy;
        }
}

void rdd_depend_narrowly(fst_rdd *rdd, bool keep_partitioner)
{
        rdd->lineage.deps = new_array(struct lineage_dep, (size_t)rdd->n_parents);
        rdd->lineage.n_deps = rdd->n_parents;
        for (int i = 0; i < rdd->n_parents; i++)
                rdd->lineage.deps[i] =
                        (struct lineage_dep){.kind = LINEAGE_NARROW, .parent = &rdd->parents[i]->lineage};
        if (keep_partitioner)
                rdd->partitioner = rdd_parent(rdd)->partitioner;
}

void rdd_free(fst_rdd *rdd)
{
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                free(rdd->text.paths);
                input_splits_deinit(&rdd->text.splits);
                break;
        case RDD_PARALLELIZE:
                free(rdd->parallelize.data);
                free(rdd->parallelize.bytes);
                break;
        case RDD_SHUFFLED:
                partitioner_deinit(&rdd->shuffle.partitioner);
                break;
        default:
                break;
        }
        free((void *)rdd->fn.name);
        free((void *)rdd->fn.captured);
        free(rdd->lineage.deps);
        free(rdd->parents);
        while (rdd->names) {
                struct rdd_name *older = rdd->names->older;
                free(rdd->names);
                rdd->names = older;
        }
        free(rdd->call_site);
        error_deinit(&rdd->error);
        free(rdd);
}

/* ----------------------------------------------------------------------------------------------- planning */

static int plan_text_file(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        int wanted = rdd->text.min_partitions;
        struct text_plan_options options = TEXT_PLAN_OPTIONS_INIT;
        int r = text_plan_options_read(rdd_registry_conf(rdd->sc), &options, &error);
        if (r == 0)
                r = text_plan(rdd->text.paths, wanted, &options, &rdd->text.splits, &error);
        if (r) {
                rdd_fail_with(rdd, r, &error);
                return rdd->status;
        }
        rdd->lineage.partitions = (int)MIN(rdd->text.splits.len, (size_t)INT_MAX);
        return 0;
}

static int plan_union(fst_rdd *rdd)
{
        int64_t n = 0;
        for (int i = 0; i < rdd->n_parents; i++)
                n += rdd->parents[i]->lineage.partitions;
        if (n > INT_MAX)
                rdd_fail(rdd, -EINVAL, "union has more partitions than there can be: coalesce its RDDs before");
        rdd->lineage.partitions = rdd->unite.in_place ? rdd_parent(rdd)->lineage.partitions : (int)MIN(n, INT_MAX);
        return rdd->status;
}

static int plan(fst_rdd *rdd)
{
        if (rdd->planned || rdd->status)
                return rdd->status;
        for (int i = 0; i < rdd->n_parents; i++)
                if (plan(rdd->parents[i]))
                        return fail_as(rdd, rdd->parents[i]);
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                if (plan_text_file(rdd))
                        return rdd->status;
                break;
        case RDD_COALESCE:
                rdd->lineage.partitions = MIN(rdd->coalesce.count, rdd_parent(rdd)->lineage.partitions);
                break;
        case RDD_SHUFFLED:
                rdd->lineage.partitions = rdd->shuffle.partitioner.partitions;
                break;
        case RDD_UNION:
                if (plan_union(rdd))
                        return rdd->status;
                break;
        case RDD_RANGE:
        case RDD_PARALLELIZE:
                break;
        default:
                rdd->lineage.partitions = rdd_parent(rdd)->lineage.partitions;
        }
        rdd->planned = true;
        return 0;
}

int rdd_plan(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        int r = plan(rdd);
        rdd_registry_unlock(rdd->sc);
        return r;
}

/* ------------------------------------------------------------------------------------------------ sources */

FST_API fst_rdd *fst_text_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(sc, RDD_TEXT_FILE, FST_BYTES, NULL, site);
        rdd->text.paths = mem_strdup(path ? path : "");
        rdd->text.min_partitions = min_partitions > 0 ? min_partitions : MIN(fst_context_default_parallelism(sc), 2);
        if (!path || !*path)
                rdd_fail(rdd, -EINVAL, "text_file needs a path: Can not create a Path from an empty string");
        return rdd;
}

static int source_partitions(fst_rdd *rdd, int wanted)
{
        if (wanted < 0)
                rdd_fail(rdd, -EINVAL, "Positive number of partitions required");
        return wanted > 0 ? wanted : fst_context_default_parallelism(rdd->sc);
}

FST_API fst_rdd *fst_range_at(fst_context *sc, int64_t start, int64_t end, int partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(sc, RDD_RANGE, FST_I64, NULL, site);
        rdd->range.start = start;
        rdd->range.end = MAX(start, end);
        rdd->lineage.partitions = source_partitions(rdd, partitions);
        return rdd;
}

static void copy_bytes(fst_rdd *rdd, const fst_bytes *from, size_t count)
{
        size_t total = 0;
        for (size_t i = 0; i < count; i++)
                total += from[i].len;
        char *to = mem_alloc(total + 1);
        fst_bytes *rows = new_array(fst_bytes, count);
        rdd->parallelize.bytes = to;
        rdd->parallelize.n_bytes = total;
        for (size_t i = 0; i < count; i++) {
                if (from[i].len)
                        memcpy(to, from[i].data, from[i].len);
                rows[i] = (fst_bytes){to, from[i].len};
                to += from[i].len;
        }
        rdd->parallelize.data = rows;
}

FST_API fst_rdd *fst_parallelize_at(fst_context *sc, const void *data, size_t count, fst_type type, int partitions,
                                    fst_site site)
{
        fst_rdd *rdd = rdd_new(sc, RDD_PARALLELIZE, type, NULL, site);
        rdd->parallelize.count = count;
        rdd->lineage.partitions = source_partitions(rdd, partitions);
        if (type.value) {
                rdd_fail(rdd, -EINVAL, "parallelize takes an array of one column");
        } else if (type.key == FST_KIND_BYTES) {
                copy_bytes(rdd, data, count);
        } else {
                rdd->parallelize.data = new_array(char, count *type.key_size + 1);
                if (count)
                        memcpy(rdd->parallelize.data, data, count * type.key_size);
        }
        return rdd;
}

/* ----------------------------------------------------------------------------------------- transformations */

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

static fst_rdd *element_rdd(fst_rdd *parent, enum rdd_op op, enum element_kind kind, const fst_fn *f, fst_type type,
                            bool keep_partitioner, fst_site site)
{
        return element_init(rdd_new(parent->sc, op, type, parent, site), kind, f, keep_partitioner);
}

FST_API fst_rdd *fst_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site)
{
        return element_rdd(rdd, RDD_MAP, ELEMENT_MAP, &f, type, false, site);
}

FST_API fst_rdd *fst_flat_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site)
{
        return element_rdd(rdd, RDD_FLAT_MAP, ELEMENT_FLAT_MAP, &f, type, false, site);
}

FST_API fst_rdd *fst_filter_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        return element_rdd(rdd, RDD_FILTER, ELEMENT_FILTER, &f, rdd->type, true, site);
}

/* @type must be one column: what is made of it would otherwise silently be cut. */
static void check_one_column(fst_rdd *rdd, fst_type type, const char *what)
{
        char given[64];
        struct fst_error error = FST_ERROR_INIT;
        if (type.key && !type.value)
                return;
        error_set(&error, -EINVAL, "%s takes the type of %s alone, but was given %s", rdd->site.operation, what,
                  fst_type_name(type, given));
        rdd_fail_with(rdd, -EINVAL, &error);
}

FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site)
{
        fst_type type = pairs->type;
        type.value = value.key;
        type.value_size = value.key_size;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_MAP_VALUES, type, pairs, site);
        check_one_column(rdd, value, "the new values");
        return element_init(rdd, ELEMENT_MAP_VALUES, &f, true);
}

FST_API fst_rdd *fst_map_partitions_at(fst_rdd *parent, fst_fn f, fst_type type, fst_site site)
{
        if (FST_SHAPE_FORM(f.shape) != FST_FORM_ITER)
                return element_rdd(parent, RDD_MAP_PARTITIONS, ELEMENT_BATCHES, &f, type, false, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_MAP_PARTITIONS, type, parent, site);
        rdd_set_fn(rdd, &f);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

FST_API fst_rdd *fst_barrier_map_partitions_at(fst_rdd *parent, fst_fn f, fst_type type, fst_site site)
{
        fst_rdd *rdd = fst_map_partitions_at(parent, f, type, site);
        rdd->lineage.barrier = true;
        return rdd;
}

FST_API fst_rdd *fst_coalesce_at(fst_rdd *parent, int partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_COALESCE, parent->type, parent, site);
        rdd_depend_narrowly(rdd, false);
        rdd->coalesce.count = partitions;
        if (partitions <= 0)
                rdd_fail(rdd, -EINVAL, "Number of partitions must be positive");
        return rdd;
}

/* ------------------------------------------------------------------------------------------------ shuffles */

int rdd_parallelism_set(fst_context *sc)
{
        const char *set = fst_context_conf(sc, "spark.default.parallelism");
        return set && *set ? fst_context_default_parallelism(sc) : 0;
}

/* Spark's default: spark.default.parallelism if it is set, else as many as the parent has. */
static int shuffle_partitions(fst_rdd *rdd, int wanted)
{
        if (wanted < 0) {
                rdd_fail(rdd, -EINVAL, "Number of partitions cannot be negative");
                return 1;
        }
        if (wanted > 0)
                return wanted;
        int set = rdd_parallelism_set(rdd->sc);
        if (set)
                return set;
        if (rdd_plan(rdd_parent(rdd))) {
                fail_as(rdd, rdd_parent(rdd));
                return 1;
        }
        return MAX(rdd_parent(rdd)->lineage.partitions, 1);
}

void rdd_depend_on_shuffle(fst_rdd *rdd)
{
        rdd->lineage.deps = new0(struct lineage_dep);
        rdd->lineage.n_deps = 1;
        rdd->lineage.deps[0] = (struct lineage_dep){.kind = LINEAGE_SHUFFLE,
                                                    .parent = &rdd_parent(rdd)->lineage,
                                                    .child = &rdd->lineage,
                                                    .shuffle_id = rdd_registry_shuffle_id(rdd->sc),
                                                    .reduce_partitions = rdd->shuffle.partitioner.partitions};
        rdd->partitioner = &rdd->shuffle.partitioner;
}

FST_API fst_rdd *fst_reduce_by_key_at(fst_rdd *pairs, fst_fn f, int partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_SHUFFLED, pairs->type, pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        fst_type value = {.key = pairs->type.value, .key_size = pairs->type.value_size};
        rdd_set_fn(rdd, &f);
        if (!rdd->status && !pairs->type.value)
                rdd_fail(rdd, -EINVAL, "reduce_by_key needs pairs");
        int r = rdd->status ? 0 : combine_check(value, &f, &error);
        if (r)
                rdd_fail_with(rdd, r, &error);
        struct partitioner hash;
        partitioner_init_hash(&hash, rdd->status ? 1 : shuffle_partitions(rdd, partitions), pairs->type);
        if (!rdd->status && partitioner_equal(pairs->partitioner, &hash)) {
                rdd->op = RDD_COMBINE;
                rdd_depend_narrowly(rdd, true);
                return rdd;
        }
        rdd->shuffle.partitioner = hash;
        rdd->shuffle.combine = true;
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

FST_API fst_rdd *fst_partition_by_at(fst_rdd *pairs, int partitions, fst_site site)
{
        struct partitioner hash;
        partitioner_init_hash(&hash, MAX(partitions, 1), pairs->type);
        if (!pairs->status && partitions > 0 && partitioner_equal(pairs->partitioner, &hash))
                return pairs;
        fst_rdd *rdd = rdd_new(pairs->sc, RDD_SHUFFLED, pairs->type, pairs, site);
        rdd->shuffle.partitioner = hash;
        if (partitions <= 0)
                rdd_fail(rdd, -EINVAL, "Number of partitions must be positive");
        else if (!pairs->type.value)
                rdd_fail(rdd, -EINVAL, "partition_by needs pairs");
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

static fst_rdd *sorted(fst_rdd *parent, enum fst_order order, int partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SHUFFLED, parent->type, parent, site);
        int n = rdd->status ? 1 : shuffle_partitions(rdd, partitions);
        partitioner_init_range(&rdd->shuffle.partitioner, n, parent->type, order);
        rdd->shuffle.sort = true;
        rdd->shuffle.order = order;
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

FST_API fst_rdd *fst_sort_by_key_at(fst_rdd *pairs, enum fst_order order, int partitions, fst_site site)
{
        fst_rdd *rdd = sorted(pairs, order, partitions, site);
        return pairs->type.value ? rdd : rdd_fail(rdd, -EINVAL, "sort_by_key needs pairs");
}

FST_API fst_rdd *fst_sort_by_at(fst_rdd *parent, fst_fn key, fst_type key_type, enum fst_order order, int partitions,
                                fst_site site)
{
        if (FST_SHAPE_FORM(key.shape) == FST_FORM_BUILTIN && FST_SHAPE_TAG(key.shape) == FST_BUILTIN_IDENTITY) {
                fst_rdd *rdd = sorted(parent, order, partitions, site);
                return parent->type.value ? rdd_fail(rdd, -EINVAL, "fst_identity sorts rows that are no pairs") : rdd;
        }
        struct fst_error error = FST_ERROR_INIT;
        fst_type keyed = fst_type_pair(key_type, key_op_value(parent->type));
        fst_rdd *keys = rdd_new(parent->sc, RDD_KEY_BY, keyed, parent, site);
        check_one_column(keys, key_type, "the keys");
        rdd_set_fn(keys, &key);
        rdd_depend_narrowly(keys, false);
        int r = keys->status ? 0 : element_check(ELEMENT_MAP, parent->type, key_type, &key, &error);
        if (r)
                rdd_fail_with(keys, r, &error);
        fst_rdd *rows = sorted(keys, order, partitions, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_VALUES, parent->type, rows, site);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}

/* --------------------------------------------------------------------------------------------- properties */

static bool cached(const struct lineage *lineage, int partition)
{
        const fst_rdd *rdd = rdd_of_const(lineage);
        return rdd_registry_cached(rdd->sc, lineage->id, partition);
}

/* Other threads' jobs may be looking. */
static fst_rdd *set_level(fst_rdd *rdd, enum fst_storage_level level)
{
        __atomic_store_n(&rdd->lineage.storage_level, level, __ATOMIC_RELAXED);
        __atomic_store_n(&rdd->lineage.cached, level == FST_STORAGE_NONE ? NULL : cached, __ATOMIC_RELAXED);
        return rdd;
}

FST_API fst_rdd *fst_persist(fst_rdd *rdd, enum fst_storage_level level)
{
        int before = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (!storage_level_valid((int)level))
                return rdd_fail(rdd, -EINVAL, "there is no such storage level: use FST_MEMORY_ONLY and its like");
        if (before && before != (int)level)
                return rdd_fail(rdd, -EINVAL,
                                "Cannot change storage level of an RDD after it was already assigned a level");
        return set_level(rdd, level);
}

FST_API fst_rdd *fst_unpersist(fst_rdd *rdd)
{
        set_level(rdd, FST_STORAGE_NONE);
        rdd_registry_unpersist(rdd->sc, rdd->lineage.id);
        return rdd;
}

FST_API int fst_rdd_id(const fst_rdd *rdd)
{
        return rdd->lineage.id;
}

FST_API int fst_rdd_partitions(fst_rdd *rdd)
{
        int r = rdd_plan(rdd);
        return r ? r : rdd->lineage.partitions;
}

FST_API fst_type fst_rdd_type(const fst_rdd *rdd)
{
        return rdd->type;
}

FST_API fst_rdd *fst_rdd_set_name(fst_rdd *rdd, const char *name)
{
        const char *text = NULL;
        rdd_registry_lock(rdd->sc);
        if (name) {
                size_t size = strlen(name) + 1;
                struct rdd_name *given = mem_alloc(sizeof(*given) + size);
                memcpy(given->text, name, size);
                given->older = rdd->names;
                rdd->names = given;
                text = given->text;
        }
        __atomic_store_n(&rdd->name, text, __ATOMIC_RELEASE);
        __atomic_store_n(&rdd->lineage.name, text ? text : rdd->site.operation, __ATOMIC_RELEASE);
        rdd_registry_unlock(rdd->sc);
        return rdd;
}
