/*
 * Partitioners: map keys to partitions.
 *
 * HASH places a key by its hash, so equal keys meet. RANGE places by order: keys up to bound 0 go to partition 0, and
 * so on. Its bounds come from a sample, as in Spark's RangePartitioner. Both work on a batch at a time. FUNCTION calls
 * a function of the application. ROUND_ROBIN ignores the key: rows go to one partition after another, and each map
 * partition starts at a different one, as in Spark's repartition. MODULO takes the lower 32 bits of an I64 key modulo
 * the number of partitions, as Spark's PythonPartitioner: the key is a hash that another program computed. SKEWED
 * places the rows of one side of a join as HASH, except those of heavy keys, which a preliminary job finds: they go to
 * several partitions, or each of them to all of these. A partitioner does not change once its first job runs.
 */
#pragma once

#include "rdd/cogroup/heavy_keys.h"

#include <firesteel/function.h>
#include <firesteel/iter.h>
#include <firesteel/rdd.h>

struct fst_error;
struct task_run;

enum partitioner_kind {
        PARTITIONER_HASH,
        PARTITIONER_RANGE,
        PARTITIONER_FUNCTION,
        PARTITIONER_ROUND_ROBIN,
        PARTITIONER_MODULO,
        PARTITIONER_SKEWED
};

struct partitioner {
        enum partitioner_kind kind;
        int partitions;
        fst_type key; /* kind and size of the key; no value */
        enum fst_order order;
        /* RANGE, SKEWED: bounds or heavy keys are set; atomic, because actions of other threads read it:
         * partitioner_ready */
        bool ready;

        /*
         * RANGE: partitions - 1 ascending bounds: order-preserving 8-byte prefixes, and whole keys for BYTES and FIXED.
         */
        int n_bounds;
        uint64_t *prefixes;
        fst_bytes *bounds;

        fst_fn fn;         /* FUNCTION: borrowed */
        int64_t hashed_by; /* MODULO: names the function that computed the keys; not sent on the wire */

        struct heavy_keys heavy; /* SKEWED */
        enum join_side side;     /* SKEWED: of its rows */
};

void partitioner_init_hash(struct partitioner *p, int partitions, fst_type key);
void partitioner_init_range(struct partitioner *p, int partitions, fst_type key, enum fst_order order);
void partitioner_init_function(struct partitioner *p, int partitions, fst_type key, const fst_fn *fn);
void partitioner_init_round_robin(struct partitioner *p, int partitions);
void partitioner_init_modulo(struct partitioner *p, int partitions, int64_t hashed_by);
void partitioner_init_skewed(struct partitioner *p, int partitions, fst_type key, enum join_side side);
void partitioner_deinit(struct partitioner *p);

/* Returns 0 if @fn can place keys of @key, otherwise -EINVAL with the required form. */
int partitioner_check_function(fst_type key, const fst_fn *fn, struct fst_error *error);

/* True if keys can be placed. Bounds and heavy keys do not change after that. Any thread. */
static inline bool partitioner_ready(const struct partitioner *p)
{
        return __atomic_load_n(&p->ready, __ATOMIC_ACQUIRE);
}

/* True if both place every key alike, so that no shuffle is needed between them. */
bool partitioner_equal(const struct partitioner *a, const struct partitioner *b);

/* One key of a sample that stands for @weight rows. Numbers are in the prefix, BYTES and FIXED are views. */
struct sample_key {
        uint64_t prefix;
        fst_bytes bytes;
        double weight;
};

/* The sort prefix of row @row of @keys: ascending, in the order of the type. */
uint64_t key_prefix(fst_type key, fst_column keys, uint32_t row);

/* The view of a BYTES or FIXED key; {NULL, 0} for numbers, which the prefix holds completely. */
fst_bytes key_view(fst_type key, fst_column keys, uint32_t row);

/* Sets the bounds so that each partition gets an equal share of the sample's weight. Sorts @keys in place and copies
 * bytes. With fewer distinct keys than partitions the last partitions stay empty, as in Spark. */
void partitioner_set_bounds(struct partitioner *p, struct sample_key *keys, size_t n);

/* Copies the bounds of @from, which is ready and has as many partitions, into the RANGE @p. */
void partitioner_copy_bounds(struct partitioner *p, const struct partitioner *from);

/* Copies the heavy keys, so that keys can be placed by a SKEWED partitioner. */
void partitioner_set_heavy_keys(struct partitioner *p, const struct heavy_keys *heavy);

/* Places the rows of one map partition; not by SKEWED, see rdd/cogroup/skewed_placer.h. Used on the thread of its task.
 */
struct row_placer {
        const struct partitioner *p;
        struct task_run *run;
        uint32_t next; /* ROUND_ROBIN */
};

/* Starts placing the rows of map partition @partition. */
void row_placer_begin(struct row_placer *placing, const struct partitioner *p, struct task_run *run, int partition);

/* Writes the partition of each row of @batch into @out[0 … rows). Returns 0, or negative after task_run_fail
 * (FUNCTION). */
int row_placer_place(struct row_placer *placing, const fst_batch *batch, uint32_t *out);

/* The same for HASH, RANGE and MODULO, without a task. */
void partitioner_place(const struct partitioner *p, const fst_batch *batch, uint32_t *out);

/* The same for HASH, from hashes of the keys (rdd/aggregate/hash.h) that the caller already has. */
void partitioner_place_hashes(const struct partitioner *p, const uint64_t *hashes, uint32_t n, uint32_t *out);
