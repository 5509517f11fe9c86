/*
 * Transformations of pairs: by key.
 *
 * Most of them bring equal keys together, by a shuffle of what is not placed so already. Each has a form fst_…_n with a
 * number of partitions. Without one it is Spark's default: the partitioner that an RDD has (of several, the one with
 * most partitions), unless that has both a tenth or less of the partitions of another and fewer than
 * spark.default.parallelism; otherwise spark.default.parallelism partitions by the hash of keys, or as many as the
 * largest RDD has. What keeps keys knows afterwards how they are placed; what has a function that emits keys does not,
 * unless it is promised: see fst_preserves_partitioning.
 *
 * Keys are equal if their bytes are; of F64, -0.0 and 0.0 are one key and NaNs are one. Where operators below say "in
 * the order of keys", it is that of fst_sort_by_key, and rows of one key come in the order in which they came in.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/list.h>
#include <firesteel/rdd.h>
#include <firesteel/source.h>
#include <firesteel/transform.h>

#include <firesteel/detail/key.h>
#include <firesteel/detail/variable.h>

FST_BEGIN_DECLS

/* fst_rdd *fst_map_values(fst_rdd *pairs, FUNCTION f, fst_type value): keys, and so the partitioner, are kept. */
#define fst_map_values(pairs, f, value) fst_map_values_at((pairs), FST_FN(f), (value), FST_HERE("map_values"))
FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

/*
 * fst_rdd *fst_flat_map_values(fst_rdd *pairs, FUNCTION f, fst_type value)
 *
 * Any number of values of type @value for each: `int f(fst_task *, VALUE, fst_out *)` emits them, and the key goes
 * before each. Keys, and so the partitioner, are kept.
 */
#define fst_flat_map_values(pairs, f, value)                                                                           \
        fst_flat_map_values_at((pairs), FST_FN(f), (value), FST_HERE("flat_map_values"))
FST_API fst_rdd *fst_flat_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

/* The keys of pairs, and their values: one of each for each pair. */
#define fst_keys(pairs) fst_keys_at((pairs), FST_HERE("keys"))
#define fst_values(pairs) fst_values_at((pairs), FST_HERE("values"))
FST_API fst_rdd *fst_keys_at(fst_rdd *pairs, fst_site site);
FST_API fst_rdd *fst_values_at(fst_rdd *pairs, fst_site site);

/*
 * fst_rdd *fst_key_by(fst_rdd *rdd, FUNCTION key, fst_type key_type)
 *
 * Rows of any type as pairs of a key, computed from each by a form of map, and the row: as it is, or, where it is a
 * pair itself, as BYTES, a list of one element (list.h).
 */
#define fst_key_by(rdd, key, key_type) fst_key_by_at((rdd), FST_FN(key), (key_type), FST_HERE("key_by"))
FST_API fst_rdd *fst_key_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, fst_site site);

/*
 * fst_rdd *fst_reduce_by_key(fst_rdd *pairs, FUNCTION f)
 * fst_rdd *fst_reduce_by_key_n(fst_rdd *pairs, FUNCTION f, int partitions)
 *
 * One row for each key, its values combined by @f: first within each partition, then across them.
 */
#define fst_reduce_by_key(pairs, f) fst_reduce_by_key_n(pairs, f, 0)
#define fst_reduce_by_key_n(pairs, f, partitions)                                                                      \
        fst_reduce_by_key_at((pairs), FST_FN(f), (partitions), FST_HERE("reduce_by_key"))
FST_API fst_rdd *fst_reduce_by_key_at(fst_rdd *pairs, fst_fn f, int partitions, fst_site site);

/*
 * fst_rdd *fst_sort_by_key(fst_rdd *pairs, enum fst_order order)
 * fst_rdd *fst_sort_by_key_n(fst_rdd *pairs, enum fst_order order, int partitions)
 *
 * All rows in the order of their keys: partition 0 before partition 1, sorted within; as many partitions as @pairs has.
 * Numbers sort by value (-0.0 before 0.0, NaN last), bytes as unsigned bytes, FIXED keys as bytes. Building it runs no
 * job; its first action samples.
 */
#define fst_sort_by_key(pairs, order) fst_sort_by_key_n(pairs, order, 0)
#define fst_sort_by_key_n(pairs, order, partitions)                                                                    \
        fst_sort_by_key_at((pairs), (order), (partitions), FST_HERE("sort_by_key"))
FST_API fst_rdd *fst_sort_by_key_at(fst_rdd *pairs, enum fst_order order, int partitions, fst_site site);

/*
 * fst_rdd *fst_fold_by_key(fst_rdd *pairs, const T *zero, FUNCTION f)
 * fst_rdd *fst_aggregate_by_key(fst_rdd *pairs, const T *zero, FUNCTION merge_value, FUNCTION merge_combiners)
 * fst_rdd *fst_combine_by_key(fst_rdd *pairs, FUNCTION create, FUNCTION merge_value, FUNCTION merge_combiners,
 *                             fst_type type)
 * … and each with _n: …, int partitions)
 *
 * One row for each key: its values are taken, one after another, into something of another type, the accumulator; those
 * of several partitions are combined. An accumulator begins as a copy of *@zero (an int64_t, a double, an fst_bytes or
 * a struct), which should be neutral, as it is used at least once for each key of each partition; or as what @create, a
 * form of map, makes of the first value (of @type). @merge_value takes a value in: a form for aggregate in function.h;
 * @merge_combiners combines two: a form for reduce. fst_fold_by_key does both by one function, and zero is of the
 * values' type.
 *
 *      struct mean { double sum; int64_t n; };
 *      static int add(fst_task *task, void *so_far, double x)
 *      {
 *              struct mean *mean = so_far;
 *              mean->sum += x;
 *              mean->n++;
 *              return 0;
 *      }
 *      static int both(fst_task *task, void *a, const void *b) …
 *
 *      fst_rdd *means = fst_aggregate_by_key(pairs, &(struct mean){0}, add, both);  // PAIR(key, FIXED)
 */
#define fst_fold_by_key(pairs, zero, f) fst_fold_by_key_n(pairs, zero, f, 0)
#define fst_fold_by_key_n(pairs, zero, f, partitions)                                                                  \
        fst_fold_by_key_at((pairs), FST_CONSTANT(zero), FST_FN(f), (partitions), FST_HERE("fold_by_key"))
#define fst_aggregate_by_key(pairs, zero, merge_value, merge_combiners)                                                \
        fst_aggregate_by_key_n(pairs, zero, merge_value, merge_combiners, 0)
#define fst_aggregate_by_key_n(pairs, zero, merge_value, merge_combiners, partitions)                                  \
        fst_aggregate_by_key_at((pairs), FST_CONSTANT(zero), FST_FN(merge_value), FST_FN(merge_combiners),             \
                                (partitions), FST_HERE("aggregate_by_key"))
#define fst_combine_by_key(pairs, create, merge_value, merge_combiners, type)                                          \
        fst_combine_by_key_n(pairs, create, merge_value, merge_combiners, type, 0)
#define fst_combine_by_key_n(pairs, create, merge_value, merge_combiners, type, partitions)                            \
        fst_combine_by_key_at((pairs), FST_FN(create), FST_FN(merge_value), FST_FN(merge_combiners), (type),           \
                              (partitions), FST_HERE("combine_by_key"))
FST_API fst_rdd *fst_fold_by_key_at(fst_rdd *pairs, fst_constant zero, fst_fn f, int partitions, fst_site site);
FST_API fst_rdd *fst_aggregate_by_key_at(fst_rdd *pairs, fst_constant zero, fst_fn merge_value, fst_fn merge_combiners,
                                         int partitions, fst_site site);
FST_API fst_rdd *fst_combine_by_key_at(fst_rdd *pairs, fst_fn create, fst_fn merge_value, fst_fn merge_combiners,
                                       fst_type type, int partitions, fst_site site);

/*
 * fst_rdd *fst_group_by_key(fst_rdd *pairs)
 * fst_rdd *fst_group_by_key_n(fst_rdd *pairs, int partitions)
 *
 * A pair of each key and a list of its values (BYTES; list.h), in the order of keys. The values of one key must fit
 * into memory: where they may not, or where a sum or a maximum is all that is wanted of them, fst_flat_map_groups and
 * fst_reduce_by_key cost less.
 */
#define fst_group_by_key(pairs) fst_group_by_key_n(pairs, 0)
#define fst_group_by_key_n(pairs, partitions) fst_group_by_key_at((pairs), (partitions), FST_HERE("group_by_key"))
FST_API fst_rdd *fst_group_by_key_at(fst_rdd *pairs, int partitions, fst_site site);

/*
 * fst_rdd *fst_flat_map_groups(fst_rdd *pairs, FUNCTION f, fst_type type)
 * fst_rdd *fst_flat_map_groups_n(fst_rdd *pairs, FUNCTION f, fst_type type, int partitions)
 *
 * @f is called for every key, in the order of keys, with an iterator of its values, and emits any number of rows of
 * @type:
 *
 *      static int longest(fst_task *task, int64_t user, fst_iter *sessions, fst_out *out)
 *      {
 *              double most = 0, seconds;
 *              while (fst_next(sessions, &seconds))
 *                      most = seconds > most ? seconds : most;
 *              fst_emit(out, user, most);
 *              return 0;
 *      }
 *
 * Values stream: there may be more of them than memory holds, and it need not read them all.
 */
#define fst_flat_map_groups(pairs, f, type) fst_flat_map_groups_n(pairs, f, type, 0)
#define fst_flat_map_groups_n(pairs, f, type, partitions)                                                              \
        fst_flat_map_groups_at((pairs), FST_FN(f), (type), (partitions), FST_HERE("flat_map_groups"))
FST_API fst_rdd *fst_flat_map_groups_at(fst_rdd *pairs, fst_fn f, fst_type type, int partitions, fst_site site);

/*
 * fst_rdd *fst_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_join_n(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type, int partitions)
 *
 * @f is called for every left and right row with equal keys and emits any number of rows of @type:
 *
 *      // (user, order) and (user, city): orders by city
 *      static int by_city(fst_task *task, int64_t user, double order, fst_bytes city, fst_out *out)
 *      {
 *              fst_emit(out, city, order);
 *              return 0;
 *      }
 *      fst_rdd *orders_by_city = fst_join(orders, users, by_city, FST_PAIR(BYTES, F64));
 *
 * Both sides are pairs with keys of one type. A side that is placed as the join wants it is not shuffled. Rows come in
 * the order of keys within a partition, for one key in the order of the left and then of the right rows. A key may have
 * more rows than memory holds.
 */
#define fst_join(left, right, f, type) fst_join_n(left, right, f, type, 0)
#define fst_join_n(left, right, f, type, partitions)                                                                   \
        fst_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("join"))
FST_API fst_rdd *fst_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions, fst_site site);

/*
 * fst_rdd *fst_left_outer_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_right_outer_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_full_outer_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * … and each with _n: …, int partitions)
 *
 * As fst_join, and every left row, every right row, or all of both are there: one whose key the other side does not
 * have is given to @f alone, with NULL for the value of the other side. So the value that may be missing is a pointer:
 *
 *      // (user, order) and (user, city); the city is not always known
 *      static int by_city(fst_task *task, int64_t user, double order, const fst_bytes *city, fst_out *out)
 *      {
 *              fst_emit(out, city ? *city : fst_bytes_of("?"), order);
 *              return 0;
 *      }
 *      fst_rdd *orders_by_city = fst_left_outer_join(orders, users, by_city, FST_PAIR(BYTES, F64));
 *
 * `const int64_t *`, `const double *`, `const fst_bytes *`; FIXED is a pointer in any case.
 */
#define fst_left_outer_join(left, right, f, type) fst_left_outer_join_n(left, right, f, type, 0)
#define fst_left_outer_join_n(left, right, f, type, partitions)                                                        \
        fst_left_outer_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("left_outer_join"))
#define fst_right_outer_join(left, right, f, type) fst_right_outer_join_n(left, right, f, type, 0)
#define fst_right_outer_join_n(left, right, f, type, partitions)                                                       \
        fst_right_outer_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("right_outer_join"))
#define fst_full_outer_join(left, right, f, type) fst_full_outer_join_n(left, right, f, type, 0)
#define fst_full_outer_join_n(left, right, f, type, partitions)                                                        \
        fst_full_outer_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("full_outer_join"))
FST_API fst_rdd *fst_left_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                        fst_site site);
FST_API fst_rdd *fst_right_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                         fst_site site);
FST_API fst_rdd *fst_full_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                        fst_site site);

/*
 * fst_rdd *fst_cogroup(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type)
 * fst_rdd *fst_cogroup_n(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type, int partitions)
 * fst_rdd *fst_cogroup_all(fst_context *sc, fst_rdd *const *rdds, size_t n, FUNCTION f, fst_type type)
 * fst_rdd *fst_cogroup_all_n(…, int partitions)
 *
 * @f is called for every key that any of the RDDs has, in the order of keys, with an iterator of its values in each of
 * them (fst_cogroup_all, for 1 to 16 RDDs: with an array of iterators), and emits any number of rows of @type. Values
 * stream: @f reads each iterator once, in any order, as far as it likes.
 */
#define fst_cogroup(a, b, f, type) fst_cogroup_n(a, b, f, type, 0)
#define fst_cogroup_n(a, b, f, type, partitions)                                                                       \
        fst_cogroup_at((a), (b), FST_FN(f), (type), (partitions), FST_HERE("cogroup"))
#define fst_cogroup_all(sc, rdds, n, f, type) fst_cogroup_all_n(sc, rdds, n, f, type, 0)
#define fst_cogroup_all_n(sc, rdds, n, f, type, partitions)                                                            \
        fst_cogroup_all_at((sc), (rdds), (n), FST_FN(f), (type), (partitions), FST_HERE("cogroup"))
FST_API fst_rdd *fst_cogroup_at(fst_rdd *a, fst_rdd *b, fst_fn f, fst_type type, int partitions, fst_site site);
FST_API fst_rdd *fst_cogroup_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_fn f, fst_type type,
                                    int partitions, fst_site site);

/*
 * fst_rdd *fst_subtract_by_key(fst_rdd *left, fst_rdd *right)
 * fst_rdd *fst_subtract_by_key_n(fst_rdd *left, fst_rdd *right, int partitions)
 *
 * The pairs of @left whose key no pair of @right has, in the order of keys. The right values may be of any type.
 * Without a number it is placed as @left is: by its partitioner, or in as many partitions by hash.
 */
#define fst_subtract_by_key(left, right) fst_subtract_by_key_n(left, right, 0)
#define fst_subtract_by_key_n(left, right, partitions)                                                                 \
        fst_subtract_by_key_at((left), (right), (partitions), FST_HERE("subtract_by_key"))
FST_API fst_rdd *fst_subtract_by_key_at(fst_rdd *left, fst_rdd *right, int partitions, fst_site site);

/*
 * Promise that the function of @rdd (a join, cogroup, flat_map_groups or map_partitions) emits under the keys that it
 * was given: then rows are placed as those that come in, and what needs them together needs no shuffle. Spark's
 * preservesPartitioning. Returns @rdd. A promise that is not kept gives wrong results.
 *
 *      fst_rdd *ranks = fst_preserves_partitioning(fst_join(links, ranks, …));
 */
FST_API fst_rdd *fst_preserves_partitioning(fst_rdd *rdd);

/*
 * fst_rdd *fst_partition_by(fst_rdd *pairs, int partitions)
 * fst_rdd *fst_partition_by_range(fst_rdd *pairs, int partitions, enum fst_order order)
 * fst_rdd *fst_partition_by_function(fst_rdd *pairs, int partitions, FUNCTION f)
 *
 * Rows placed by their keys, so that equal keys are in the same partition: by hash; by order, in ranges that a sample
 * of the keys makes about equally large; or where @f says, which is called with a key and @partitions, and answers 0 …
 * @partitions - 1. By hash, and by the same function with equal captured values: @pairs itself if
 * they already are (there is then nothing to release).
 */
#define fst_partition_by(pairs, partitions) fst_partition_by_at((pairs), (partitions), FST_HERE("partition_by"))
#define fst_partition_by_range(pairs, partitions, order)                                                               \
        fst_partition_by_range_at((pairs), (partitions), (order), FST_HERE("partition_by_range"))
#define fst_partition_by_function(pairs, partitions, f)                                                                \
        fst_partition_by_function_at((pairs), (partitions), FST_FN(f), FST_HERE("partition_by_function"))
FST_API fst_rdd *fst_partition_by_at(fst_rdd *pairs, int partitions, fst_site site);
FST_API fst_rdd *fst_partition_by_range_at(fst_rdd *pairs, int partitions, enum fst_order order, fst_site site);
FST_API fst_rdd *fst_partition_by_function_at(fst_rdd *pairs, int partitions, fst_fn f, fst_site site);

/*
 * fst_rdd *fst_sample_by_key(fst_rdd *pairs, bool with_replacement, const K *keys, const double *fractions, size_t n,
 *                            int64_t seed)
 * fst_rdd *fst_sample_by_key_exact(…)    the same
 *
 * Some of the pairs of each key: of those with keys[i] about fractions[i], with a random number for each, or so often
 * as a Poisson distribution with that mean says; or, of fst_sample_by_key_exact, fractions[i] × how many there are,
 * rounded up, for which the first action runs a job before its own (with replacement two: persist what is expensive)
 * and in one of 10,000 cases misses by a few. The same seed takes the pairs of the same partitions that Spark takes
 * (with replacement for fractions below 40). Types of keys are as of parallelize; both arrays are copied. The job fails
 * at a key that is not among them. With replacement a task needs 2.5 KB for each different fraction, of an exact sample
 * 5 KB for each key. The partitioner is kept.
 */
#define fst_sample_by_key(pairs, with_replacement, keys, fractions, n, seed)                                           \
        fst_sample_by_key_at((pairs), (with_replacement), (keys), FST_TYPE_BEHIND(keys), (fractions), (n), (seed),     \
                             false, FST_HERE("sample_by_key"))
#define fst_sample_by_key_exact(pairs, with_replacement, keys, fractions, n, seed)                                     \
        fst_sample_by_key_at((pairs), (with_replacement), (keys), FST_TYPE_BEHIND(keys), (fractions), (n), (seed),     \
                             true, FST_HERE("sample_by_key_exact"))
FST_API fst_rdd *fst_sample_by_key_at(fst_rdd *pairs, bool with_replacement, const void *keys, fst_type key,
                                      const double *fractions, size_t n, int64_t seed, bool exact, fst_site site);

/*
 * fst_rdd *fst_filter_by_range(fst_rdd *pairs, K low, K high)
 *
 * The pairs whose keys are @low, @high or between them in the order of fst_sort_by_key; keys are given as to fst_emit,
 * and copied. Where keys are placed by ranges (after fst_sort_by_key, fst_partition_by_range and what keeps their
 * partitioner), partitions without such keys are not computed. There are as many partitions, and the partitioner is
 * kept.
 */
#define fst_filter_by_range(pairs, low, high)                                                                          \
        fst_filter_by_range_at((pairs), FST_KEY(low), FST_KEY(high), FST_HERE("filter_by_range"))
FST_API fst_rdd *fst_filter_by_range_at(fst_rdd *pairs, fst_key low, fst_key high, fst_site site);

/*
 * fst_rdd *fst_count_approx_distinct_by_key(fst_rdd *pairs, double relative_deviation)
 * fst_rdd *fst_count_approx_distinct_by_key_n(fst_rdd *pairs, double relative_deviation, int partitions)
 *
 * A pair of each key and about how many different values it has, I64: right but for @relative_deviation, as
 * fst_count_approx_distinct, from a sketch of about 1.1 / deviation^2 bytes for each key in each task. -EINVAL for less
 * than 0.0042.
 */
#define fst_count_approx_distinct_by_key(pairs, relative_deviation)                                                    \
        fst_count_approx_distinct_by_key_n(pairs, relative_deviation, 0)
#define fst_count_approx_distinct_by_key_n(pairs, relative_deviation, partitions)                                      \
        fst_count_approx_distinct_by_key_at((pairs), (relative_deviation), (partitions),                               \
                                            FST_HERE("count_approx_distinct_by_key"))
FST_API fst_rdd *fst_count_approx_distinct_by_key_at(fst_rdd *pairs, double relative_deviation, int partitions,
                                                     fst_site site);

/*
 * fst_rdd *fst_repartition_and_sort_within_partitions(fst_rdd *pairs, int partitions, enum fst_order order)
 *
 * Placed by hash, each partition in the order of keys. For other places: fst_sort_within_partitions of another
 * fst_partition_by….
 */
#define fst_repartition_and_sort_within_partitions(pairs, partitions, order)                                           \
        fst_sort_within_partitions_at(                                                                                 \
                fst_partition_by_at((pairs), (partitions), FST_HERE("repartition_and_sort_within_partitions")),        \
                (order), FST_HERE("repartition_and_sort_within_partitions"))

FST_END_DECLS
