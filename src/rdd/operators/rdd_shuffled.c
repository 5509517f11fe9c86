/* Operators that read a shuffle: partition_by, sort_by_key, sort_by, and the reduce side of rdd_combine.c. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

#include "base/log.h"
#include "base/mem.h"
#include "rdd/aggregate/op_combine.h"
#include "rdd/pipeline/page_loan.h"
#include "rdd/sort/op_sort.h"
#include "store/page.h"

#include <firesteel/frames.h>

#include <stdatomic.h>

/* ---------------------------------------------------------------------------------------------------- building */

/* The partitions of a sort: as in Spark, as many as the parent has, regardless of spark.default.parallelism. */
static int sorted_rdd_partitions(fst_rdd *rdd, int wanted)
{
        if (wanted < 0) {
                rdd_fail(rdd, -EINVAL, "Number of partitions cannot be negative");
                return 1;
        }
        if (wanted > 0)
                return wanted;
        if (rdd_plan(rdd_parent(rdd))) {
                rdd_fail_as(rdd, rdd_parent(rdd));
                return 1;
        }
        return MAX(rdd_parent(rdd)->lineage.partitions, 1);
}

void rdd_depend_on_shuffle(fst_rdd *rdd)
{
        rdd->shuffle.id = rdd_registry_shuffle_id(rdd->sc);
        rdd->lineage.deps = new0(struct lineage_dep);
        rdd->lineage.n_deps = 1;
        rdd->lineage.deps[0] = (struct lineage_dep){.kind = LINEAGE_SHUFFLE,
                                                    .parent = &rdd_parent(rdd)->lineage,
                                                    .child = &rdd->lineage,
                                                    .shuffle_id = rdd->shuffle.id,
                                                    .reduce_partitions = rdd->shuffle.partitioner.partitions};
        rdd->partitioner = &rdd->shuffle.partitioner;
}

/* The RDD that reads @parent's rows as placed by @p. Takes over @p. */
static fst_rdd *shuffled_rdd_new(fst_rdd *parent, struct partitioner *p, int partitions, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SHUFFLED, parent->type, parent, site);
        rdd->shuffle.partitioner = *p;
        if (partitions <= 0)
                rdd_fail(rdd, -EINVAL, "Number of partitions must be positive");
        else if (p->kind != PARTITIONER_ROUND_ROBIN && !parent->type.value)
                rdd_fail(rdd, -EINVAL, "partition_by needs pairs");
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

FST_API fst_rdd *fst_partition_by_at(fst_rdd *pairs, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct partitioner hash;
        partitioner_init_hash(&hash, MAX(partitions, 1), pairs->type);
        if (!pairs->status && partitions > 0 && partitioner_equal(pairs->partitioner, &hash))
                return pairs;
        return shuffled_rdd_new(pairs, &hash, partitions, site);
}

FST_API fst_rdd *fst_partition_by_range_at(fst_rdd *pairs, int partitions, enum fst_order order, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct partitioner range;
        partitioner_init_range(&range, MAX(partitions, 1), pairs->type, order);
        return shuffled_rdd_new(pairs, &range, partitions, site);
}

FST_API fst_rdd *fst_partition_by_function_at(fst_rdd *pairs, int partitions, fst_fn f, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct fst_error error = FST_ERROR_INIT;
        struct partitioner p;
        partitioner_init_function(&p, MAX(partitions, 1), pairs->type, &f);
        if (!pairs->status && partitions > 0 && partitioner_equal(pairs->partitioner, &p))
                return pairs;
        fst_rdd *rdd = shuffled_rdd_new(pairs, &p, partitions, site);
        rdd_set_fn(rdd, &f); /* a copy that lives as long as the RDD */
        rdd->shuffle.partitioner.fn = rdd->fn;
        int r = rdd->status ? 0 : partitioner_check_function(pairs->type, &rdd->fn, &error);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

FST_API fst_rdd *fst_frames_partition_by_at(fst_rdd *pairs, int partitions, int64_t function_id, fst_site site)
{
        pairs = rdd_given(pairs, site);
        struct partitioner modulo;
        partitioner_init_modulo(&modulo, MAX(partitions, 1), function_id);
        if (!pairs->status && partitions > 0 && partitioner_equal(pairs->partitioner, &modulo))
                return pairs;
        fst_rdd *rdd = shuffled_rdd_new(pairs, &modulo, partitions, site);
        return pairs->type.key == FST_KIND_I64 ? rdd
                                               : rdd_fail(rdd, -EINVAL, "frames_partition_by needs pairs with I64 keys");
}

FST_API fst_rdd *fst_repartition_at(fst_rdd *parent, int partitions, fst_site site)
{
        parent = rdd_given(parent, site);
        struct partitioner turns;
        partitioner_init_round_robin(&turns, MAX(partitions, 1));
        fst_rdd *rdd = shuffled_rdd_new(parent, &turns, partitions, site);
        rdd->partitioner = NULL; /* rows are not placed by their keys */
        return rdd;
}

/* Warns once that struct keys sort byte by byte: programmers expect the order of their numbers. */
static void sorted_rdd_warn_of_struct_keys(const fst_rdd *rdd, fst_site site)
{
        static atomic_bool warned;
        if (rdd->type.key == FST_KIND_FIXED && !atomic_exchange(&warned, true))
                log_warn("RDD",
                         "%s at %s:%d: struct keys are ordered byte by byte, not by the numbers in them: make BYTES "
                         "keys with fst_key_append_i64 and its like (firesteel/key.h)",
                         site.operation, site.file, site.line);
}

static fst_rdd *sorted_rdd_new(fst_rdd *parent, enum fst_order order, int partitions, fst_site site)
{
        sorted_rdd_warn_of_struct_keys(parent, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SHUFFLED, parent->type, parent, site);
        int n = rdd->status ? 1 : sorted_rdd_partitions(rdd, partitions);
        partitioner_init_range(&rdd->shuffle.partitioner, n, parent->type, order);
        rdd->shuffle.sort = true;
        rdd->shuffle.order = order;
        rdd_depend_on_shuffle(rdd);
        return rdd;
}

FST_API fst_rdd *fst_sort_by_key_at(fst_rdd *pairs, enum fst_order order, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        fst_rdd *rdd = sorted_rdd_new(pairs, order, partitions, site);
        return pairs->type.value ? rdd : rdd_fail(rdd, -EINVAL, "sort_by_key needs pairs");
}

FST_API fst_rdd *fst_sort_by_at(fst_rdd *parent, fst_fn key, fst_type key_type, enum fst_order order, int partitions,
                                fst_site site)
{
        parent = rdd_given(parent, site);
        if (FST_SHAPE_FORM(key.shape) == FST_FORM_BUILTIN && FST_SHAPE_TAG(key.shape) == FST_BUILTIN_IDENTITY) {
                fst_rdd *rdd = sorted_rdd_new(parent, order, partitions, site);
                rdd->partitioner = NULL; /* as in Spark's sortBy: a union of such RDDs concatenates their partitions */
                return parent->type.value ? rdd_fail(rdd, -EINVAL, "fst_fn_identity sorts rows that are not pairs")
                                          : rdd;
        }
        int first = rdd_registry_next_id(parent->sc);
        fst_rdd *rows = sorted_rdd_new(rdd_key_by(parent, &key, key_type, site), order, partitions, site);
        return rdd_release_intermediates(rdd_rows_of(rows, parent->type, site), first);
}

/* ------------------------------------------------------------------------------------------------- SHUFFLED */

static void shuffled_free(fst_rdd *rdd)
{
        partitioner_deinit(&rdd->shuffle.partitioner);
}

static int shuffled_plan(fst_rdd *rdd)
{
        rdd->lineage.partitions = rdd->shuffle.partitioner.partitions;
        return 0;
}

static int shuffled_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Shuffle *shuffle = arena_alloc(&w->arena, sizeof(*shuffle));
        firesteel__shuffle__init(shuffle);
        shuffle->id = rdd->shuffle.id;
        shuffle->combine = rdd->shuffle.combine;
        shuffle->sort = rdd->shuffle.sort;
        shuffle->descending = rdd->shuffle.order == FST_DESCENDING;
        m->shuffle = shuffle;
        return 0;
}

static int shuffled_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                           struct fst_error *error)
{
        const Firesteel__Shuffle *m = message->shuffle;
        if (!m)
                return rdd_wire_bad(rdd, error, "its shuffle is missing");
        rdd->shuffle.combine = m->combine;
        rdd->shuffle.sort = m->sort;
        rdd->shuffle.order = m->descending ? FST_DESCENDING : FST_ASCENDING;
        rdd->shuffle.partitioner.partitions = rdd->lineage.partitions;
        int r = m->combine ? rdd_wire_check_combine(rdd, error) : 0;
        return r ? r : rdd_wire_depend_on(reader, rdd, m->id, rdd->lineage.partitions, error);
}

static struct op *shuffled_op_new(const fst_rdd *rdd, struct task_run *run)
{
        if (rdd->shuffle.combine)
                return combine_op_new(run, rdd->type, &rdd->fn); /* combines accumulators, if values become some */
        return rdd->shuffle.sort ? sort_op_new(run, rdd->type, rdd->shuffle.order) : NULL;
}

static void *shuffled_cursor_new(const struct pipeline_node *node)
{
        struct page_cursor *cursor = new0(struct page_cursor);
        page_cursor_init(cursor, node->rdd->type);
        return cursor;
}

static void shuffled_cursor_free(void *cursor)
{
        page_cursor_deinit(cursor);
        free(cursor);
}

/* Lets @to take the rows of @page where they are. Returns 0, OP_NOT_BORROWED, or negative. A loan takes locks that all
 * slots share, so none is made of records for an operator that combines: it only takes values (page_new_values). */
static int shuffled_lend(const struct pipeline_node *node, struct shuffle_input *input, const struct page *page,
                         struct op *to)
{
        const struct pipeline_env *env = node_env(node);
        const bool takes = to->class->borrow && (page->keys || !node->rdd->shuffle.combine);
        struct page_loan *loan = takes && env->shuffle->lend ? env->shuffle->lend(input, page) : NULL;
        if (!loan)
                return OP_NOT_BORROWED;
        int r = to->class->borrow(to, page, loan);
        if (r)
                loan->end(loan);
        else
                task_run_count_read(env->run, &env->run->counters.shuffle_read_records, page->rows);
        return r;
}

/* Feeds the rows of one of @n buckets after another. */
static int shuffled_feed_buckets(const struct pipeline_env *env, struct shuffle_input *input, uint32_t n, struct op *to)
{
        struct rows rows = {0};
        int r = 0;
        for (uint32_t bucket = 0; bucket < n && r == 0; bucket++) {
                while (r == 0) {
                        env->shuffle->next_of(input, bucket, &rows.batch);
                        if (rows.batch.rows == 0)
                                break;
                        task_run_count_read(env->run, &env->run->counters.shuffle_read_records, rows.batch.rows);
                        r = node_push(to, &rows);
                }
                if (r == 0)
                        r = to->class->bucket_end(to);
        }
        return r;
}

static int shuffled_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const struct pipeline_env *env = node_env(node);
        const struct shuffle_source *source = env->shuffle;
        struct page_cursor *cursor = node->state;
        struct shuffle_input *input = NULL;
        const struct page *page;
        struct rows rows = {0};
        int r = source->open(env->shuffle_owner, env->run, node->rdd->shuffle.id, partition, node->rdd->type, &input);
        if (r)
                return r;
        uint32_t buckets = to->class->bucket_end && source->buckets ? source->buckets(input) : 0;
        if (buckets) {
                r = shuffled_feed_buckets(env, input, buckets, to);
                source->close(input);
                return r;
        }
        while ((r = source->next(input, &page)) == 0 && page) {
                r = shuffled_lend(node, input, page, to);
                if (r == 0)
                        continue;
                if (r != OP_NOT_BORROWED)
                        break;
                r = 0;
                page_cursor_start(cursor, page);
                rows.stable[0] = (struct fst_stable){(uintptr_t)page->data, page->used};
                while (r == 0 && page_cursor_next(cursor, &rows.batch)) {
                        task_run_count_read(env->run, &env->run->counters.shuffle_read_records, rows.batch.rows);
                        r = node_push(to, &rows);
                }
                if (r)
                        break;
        }
        source->close(input);
        return r;
}

const struct rdd_class rdd_shuffled_class = {
        .spark = "ShuffledRDD",
        .free = shuffled_free,
        .plan = shuffled_plan,
        .encode = shuffled_encode,
        .decode = shuffled_decode,
        .op_new = shuffled_op_new,
        .state_new = shuffled_cursor_new,
        .state_free = shuffled_cursor_free,
        .feed = shuffled_feed,
};
