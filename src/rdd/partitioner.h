/*
 * Partitioners: which partition a key belongs to.
 *
 * HASH places by a hash of the key, so equal keys meet. RANGE places by order: keys below bound 0 go to partition
 * 0, …; its bounds come from a sample, as Spark's RangePartitioner takes them. Both are computed a batch at a
 * time. FUNCTION asks the application. ROUND_ROBIN looks at no key: rows go to one partition after another, those of
 * each map partition from another one on, as in Spark's repartition. A partitioner is immutable once its first job
 * runs.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/iter.h>
#include <firesteel/rdd.h>

struct fst_error;
struct task_run;

enum partitioner_kind { PARTITIONER_HASH, PARTITIONER_RANGE, PARTITIONER_FUNCTION, PARTITIONER_ROUND_ROBIN };

struct partitioner {
        enum partitioner_kind kind;
        int partitions;
        fst_type key; /* the key's kind and size (value is none) */
        enum fst_order order;
        bool ready; /* RANGE: bounds are set; atomic, as other threads' actions look: partitioner_ready */

        /* RANGE: partitions - 1 bounds in order, as order-preserving 8-byte prefixes and, for BYTES and FIXED, whole */
        int n_bounds;
        uint64_t *prefixes;
        fst_bytes *bounds;

        fst_fn fn; /* FUNCTION: borrowed */
};

void partitioner_init_hash(struct partitioner *p, int partitions, fst_type key);
void partitioner_init_range(struct partitioner *p, int partitions, fst_type key, enum fst_order order);
void partitioner_init_function(struct partitioner *p, int partitions, fst_type key, const fst_fn *fn);
void partitioner_init_round_robin(struct partitioner *p, int partitions);
void partitioner_deinit(struct partitioner *p);

/* 0 if @fn places keys of @key, else -EINVAL with what it must be. */
int partitioner_check_function(fst_type key, const fst_fn *fn, struct fst_error *error);

/* Whether keys can be placed; then the bounds do not change any more. Any thread. */
static inline bool partitioner_ready(const struct partitioner *p)
{
        return __atomic_load_n(&p->ready, __ATOMIC_ACQUIRE);
}

/* Whether two place every key alike, so that no shuffle is needed between them. */
bool partitioner_equal(const struct partitioner *a, const struct partitioner *b);

/* One key of a sample, standing for @weight rows. Numbers are given by value, BYTES and FIXED by view. */
struct sample_key {
        uint64_t prefix;
        fst_bytes bytes;
        double weight;
};

/* The sort prefix of row @row of @keys: order-preserving for the type, ascending. */
uint64_t key_prefix(fst_type key, fst_column keys, uint32_t row);

/* The view of a BYTES or FIXED key; {NULL, 0} for numbers, whose prefix is all. */
fst_bytes key_view(fst_type key, fst_column keys, uint32_t row);

/*
 * Set the bounds so that the sample's weight falls evenly into the partitions. @keys is sorted in place; bytes
 * are copied. Fewer distinct keys than partitions leave the last ones empty, as in Spark.
 */
void partitioner_set_bounds(struct partitioner *p, struct sample_key *keys, size_t n);

/* Give the RANGE @p the bounds of @from, which is ready and for as many partitions. */
void partitioner_copy_bounds(struct partitioner *p, const struct partitioner *from);

/* Placing the rows of one map partition, on the thread of its task. */
struct placing {
        const struct partitioner *p;
        struct task_run *run;
        uint32_t next; /* ROUND_ROBIN */
};

/* Begin with the rows of map partition @partition. */
void placing_begin(struct placing *placing, const struct partitioner *p, struct task_run *run, int partition);

/* The partition of each row of @batch, into @out[0 … rows): 0, or negative after task_run_fail (FUNCTION). */
int placing_place(struct placing *placing, const fst_batch *batch, uint32_t *out);

/* The same for HASH and RANGE, which need no task. */
void partitioner_place(const struct partitioner *p, const fst_batch *batch, uint32_t *out);

/* And for a HASH partitioner from the keys' hashes (rdd/aggregate/hash.h), which an aggregate has at hand. */
void partitioner_place_hashes(const struct partitioner *p, const uint64_t *hashes, uint32_t n, uint32_t *out);
