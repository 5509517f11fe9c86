/*
 * Transformations of pairs, by key.
 *
 * Most of them bring equal keys together, by a shuffle of each RDD that is not yet partitioned that way. Each has a
 * form fst_…_n with a number of partitions. Without it Spark's default applies: the existing partitioner (of several
 * RDDs, the one with most partitions), unless it has at most a tenth of the partitions of another RDD and fewer than
 * spark.default.parallelism; otherwise a hash partitioner with spark.default.parallelism partitions, or as many as
 * the largest RDD has. An operator that keeps keys keeps the partitioner. One whose function emits keys does not,
 * unless you call fst_preserves_partitioning.
 *
 * Keys are equal if their bytes are. For F64, -0.0 equals 0.0 and all NaNs are equal. "In key order" below means the
 * order of fst_sort_by_key. Rows with equal keys keep the order of their input, except in joins and
 * fst_subtract_by_key.
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

/* fst_rdd *fst_map_values(fst_rdd *pairs, FUNCTION f, fst_type value): keeps keys, and so the partitioner. */
#define fst_map_values(pairs, f, value) fst_map_values_at((pairs), FST_FN(f), (value), FST_HERE("map_values"))
FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

/*
 * fst_rdd *fst_flat_map_values(fst_rdd *pairs, FUNCTION f, fst_type value)
 *
 * Any number of values of type @value for each: `int f(fst_task *, VALUE, fst_out *)` emits them, and each gets the
 * key. Keeps keys, and so the partitioner.
 */
#define fst_flat_map_values(pairs, f, value)                                                                           \
        fst_flat_map_values_at((pairs), FST_FN(f), (value), FST_HERE("flat_map_values"))
FST_API fst_rdd *fst_flat_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

/* The keys of pairs; the values of pairs. One for each pair. */
#define fst_keys(pairs) fst_keys_at((pairs), FST_HERE("keys"))
#define fst_values(pairs) fst_values_at((pairs), FST_HERE("values"))
FST_API fst_rdd *fst_keys_at(fst_rdd *pairs, fst_site site);
FST_API fst_rdd *fst_values_at(fst_rdd *pairs, fst_site site);

/*
 * fst_rdd *fst_key_by(fst_rdd *rdd, FUNCTION key, fst_type key_type)
 *
 * Pairs of a key, which @key (a form of map) computes from each row, and the row. A row that is a pair becomes BYTES, a
 * list of one element (list.h).
 */
#define fst_key_by(rdd, key, key_type) fst_key_by_at((rdd), FST_FN(key), (key_type), FST_HERE("key_by"))
FST_API fst_rdd *fst_key_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, fst_site site);

/*
 * fst_rdd *fst_reduce_by_key(fst_rdd *pairs, FUNCTION f)
 * fst_rdd *fst_reduce_by_key_n(fst_rdd *pairs, FUNCTION f, int partitions)
 *
 * One row for each key. @f combines its values, first within each partition, then across partitions.
 */
#define fst_reduce_by_key(pairs, f) fst_reduce_by_key_n(pairs, f, 0)
#define fst_reduce_by_key_n(pairs, f, partitions)                                                                      \
        fst_reduce_by_key_at((pairs), FST_FN(f), (partitions), FST_HERE("reduce_by_key"))
FST_API fst_rdd *fst_reduce_by_key_at(fst_rdd *pairs, fst_fn f, int partitions, fst_site site);

/*
 * fst_rdd *fst_sort_by_key(fst_rdd *pairs, enum fst_order order)
 * fst_rdd *fst_sort_by_key_n(fst_rdd *pairs, enum fst_order order, int partitions)
 *
 * Sort all rows by key, into as many partitions as @pairs has: every key of partition 0 comes before those of
 * partition 1. Numbers sort by value (-0.0 before 0.0, NaN last), BYTES as unsigned bytes, FIXED keys as bytes. The
 * first action, not this call, runs a job that samples the keys.
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
 * One row for each key. The values of a key are added, one after another, to an accumulator of another type, and the
 * accumulators of several partitions are combined. An accumulator starts as a copy of *@zero (an int64_t, a double,
 * an fst_bytes or a struct), or as the row of @type that @create, a form of map, makes of the first value. @zero should
 * be neutral: it is used at least once for each key of each partition. @merge_value adds a value, in a form for
 * aggregate (function.h). @merge_combiners combines two accumulators, in a form for reduce. fst_fold_by_key uses one
 * function for both, and *@zero has the type of the values.
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
 * Pairs of a key and the list of its values (BYTES; list.h), in key order. The values of one key must fit into
 * memory. If they may not, use fst_flat_map_groups. If you need only a sum or a maximum, fst_reduce_by_key is
 * cheaper.
 */
#define fst_group_by_key(pairs) fst_group_by_key_n(pairs, 0)
#define fst_group_by_key_n(pairs, partitions) fst_group_by_key_at((pairs), (partitions), FST_HERE("group_by_key"))
FST_API fst_rdd *fst_group_by_key_at(fst_rdd *pairs, int partitions, fst_site site);

/*
 * fst_rdd *fst_flat_map_groups(fst_rdd *pairs, FUNCTION f, fst_type type)
 * fst_rdd *fst_flat_map_groups_n(fst_rdd *pairs, FUNCTION f, fst_type type, int partitions)
 *
 * Call @f for each key, in key order, with an iterator of its values. @f emits any number of rows of @type:
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
 * Values are streamed: they need not fit into memory, and @f need not read them all.
 */
#define fst_flat_map_groups(pairs, f, type) fst_flat_map_groups_n(pairs, f, type, 0)
#define fst_flat_map_groups_n(pairs, f, type, partitions)                                                              \
        fst_flat_map_groups_at((pairs), FST_FN(f), (type), (partitions), FST_HERE("flat_map_groups"))
FST_API fst_rdd *fst_flat_map_groups_at(fst_rdd *pairs, fst_fn f, fst_type type, int partitions, fst_site site);

/*
 * fst_rdd *fst_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_join_n(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type, int partitions)
 *
 * Call @f for each left and right row with equal keys. @f emits any number of rows of @type:
 *
 *      // (user, order) and (user, city): orders by city
 *      static int by_city(fst_task *task, int64_t user, double order, fst_bytes city, fst_out *out)
 *      {
 *              fst_emit(out, city, order);
 *              return 0;
 *      }
 *      fst_rdd *orders_by_city = fst_join(orders, users, by_city, FST_PAIR(BYTES, F64));
 *
 * Both sides are pairs with keys of one type. A side that already has the join's partitioner is not shuffled. As in
 * Spark, rows come in no particular order: it depends on the sizes of the sides and on memory. The rows of one key need
 * not fit into memory.
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
 * As fst_join, but every left row, every right row, or every row of both sides takes part. A row whose key the other
 * side does not have is passed to @f with NULL for the other value. A value that may be missing is therefore a
 * pointer:
 *
 *      // (user, order) and (user, city); some cities are unknown
 *      static int by_city(fst_task *task, int64_t user, double order, const fst_bytes *city, fst_out *out)
 *      {
 *              fst_emit(out, city ? *city : fst_bytes_of("?"), order);
 *              return 0;
 *      }
 *      fst_rdd *orders_by_city = fst_left_outer_join(orders, users, by_city, FST_PAIR(BYTES, F64));
 *
 * The types are `const int64_t *`, `const double *` and `const fst_bytes *`; FIXED is a pointer in any case.
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
 * fst_rdd *fst_broadcast_join(fst_rdd *left, fst_rdd *small, FUNCTION f, fst_type type)
 * fst_rdd *fst_broadcast_left_outer_join(fst_rdd *left, fst_rdd *small, FUNCTION f, fst_type type)
 *
 * As fst_join and fst_left_outer_join, without a shuffle of @left: the first action collects the rows of @small in the
 * driver, at most spark.driver.maxResultSize, and sends them to each executor as a broadcast variable. The tasks of
 * a process share a table of them. The result has the partitions of @left.
 */
#define fst_broadcast_join(left, small, f, type)                                                                       \
        fst_broadcast_join_at((left), (small), FST_FN(f), (type), FST_HERE("broadcast_join"))
#define fst_broadcast_left_outer_join(left, small, f, type)                                                            \
        fst_broadcast_left_outer_join_at((left), (small), FST_FN(f), (type), FST_HERE("broadcast_left_outer_join"))
FST_API fst_rdd *fst_broadcast_join_at(fst_rdd *left, fst_rdd *small, fst_fn f, fst_type type, fst_site site);
FST_API fst_rdd *fst_broadcast_left_outer_join_at(fst_rdd *left, fst_rdd *small, fst_fn f, fst_type type,
                                                  fst_site site);

/*
 * fst_rdd *fst_skewed_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_skewed_left_outer_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * fst_rdd *fst_skewed_right_outer_join(fst_rdd *left, fst_rdd *right, FUNCTION f, fst_type type)
 * … and each with _n: …, int partitions)
 *
 * As fst_join and its outer forms, for sides of which a few keys have a large part of the rows. The first action
 * samples the keys of both sides in a job of its own. For each frequent key, the rows of the side with more of them are
 * spread over several partitions, and each of these gets a copy of the other side's rows. The left outer join spreads
 * only left rows, the right outer join only right rows.
 *
 * Both sides are always shuffled. Rows of one key are in several partitions, so fst_preserves_partitioning has no
 * effect.
 */
#define fst_skewed_join(left, right, f, type) fst_skewed_join_n(left, right, f, type, 0)
#define fst_skewed_join_n(left, right, f, type, partitions)                                                            \
        fst_skewed_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("skewed_join"))
#define fst_skewed_left_outer_join(left, right, f, type) fst_skewed_left_outer_join_n(left, right, f, type, 0)
#define fst_skewed_left_outer_join_n(left, right, f, type, partitions)                                                 \
        fst_skewed_left_outer_join_at((left), (right), FST_FN(f), (type), (partitions),                                \
                                      FST_HERE("skewed_left_outer_join"))
#define fst_skewed_right_outer_join(left, right, f, type) fst_skewed_right_outer_join_n(left, right, f, type, 0)
#define fst_skewed_right_outer_join_n(left, right, f, type, partitions)                                                \
        fst_skewed_right_outer_join_at((left), (right), FST_FN(f), (type), (partitions),                               \
                                       FST_HERE("skewed_right_outer_join"))
FST_API fst_rdd *fst_skewed_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                    fst_site site);
FST_API fst_rdd *fst_skewed_left_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                               fst_site site);
FST_API fst_rdd *fst_skewed_right_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                                fst_site site);

/*
 * fst_rdd *fst_cogroup(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type)
 * fst_rdd *fst_cogroup_n(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type, int partitions)
 * fst_rdd *fst_cogroup_all(fst_context *sc, fst_rdd *const *rdds, size_t n, FUNCTION f, fst_type type)
 * fst_rdd *fst_cogroup_all_n(…, int partitions)
 *
 * Call @f for each key of any of the RDDs, in key order, with an iterator of its values in each RDD (fst_cogroup_all,
 * for 1 to 16 RDDs: with an array of iterators). @f emits any number of rows of @type. Values are streamed: @f may
 * read each iterator once, in any order, and need not read it to the end.
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
 * The pairs of @left whose key is not in @right, in no particular order. The values of @right may have any type.
 * Without a number, the result has the partitioner of @left, or a hash partitioner with as many partitions as @left.
 */
#define fst_subtract_by_key(left, right) fst_subtract_by_key_n(left, right, 0)
#define fst_subtract_by_key_n(left, right, partitions)                                                                 \
        fst_subtract_by_key_at((left), (right), (partitions), FST_HERE("subtract_by_key"))
FST_API fst_rdd *fst_subtract_by_key_at(fst_rdd *left, fst_rdd *right, int partitions, fst_site site);

/*
 * Promise that the function of @rdd (a join, cogroup, flat_map_groups or map_partitions) emits only keys of its input
 * rows. The partitioner is then kept, and later operators need no shuffle. This is Spark's
 * preservesPartitioning. If the promise is broken, results are wrong. Returns @rdd.
 *
 *      fst_rdd *ranks = fst_preserves_partitioning(fst_join(links, ranks, …));
 */
FST_API fst_rdd *fst_preserves_partitioning(fst_rdd *rdd);

/*
 * fst_rdd *fst_partition_by(fst_rdd *pairs, int partitions)
 * fst_rdd *fst_partition_by_range(fst_rdd *pairs, int partitions, enum fst_order order)
 * fst_rdd *fst_partition_by_function(fst_rdd *pairs, int partitions, FUNCTION f)
 *
 * Partition pairs by key, so that equal keys are in one partition: by hash; by ranges of about equal size, which a
 * sample of the keys determines; or by @f, which gets a key and @partitions and returns a number from 0 to
 * @partitions - 1. If @pairs already has the same hash partitioner, or the same function with equal captured values,
 * @pairs itself is returned: do not release both.
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
 * A random sample of the pairs of each key. Fractions[i] belongs to keys[i]. fst_sample_by_key takes each pair with
 * that probability or, with replacement, a number of times that follows a Poisson distribution with that mean.
 * fst_sample_by_key_exact takes fractions[i] × (the number of pairs), rounded up; its first action runs another job
 * first (with replacement two, so persist an expensive RDD), and in one of 10,000 cases the number is off by a few.
 * The same seed takes the same pairs of the same partitions, which are the pairs that Spark takes (with replacement,
 * for fractions below 40). K is a type of parallelize. Both arrays are copied. The job fails at a key that is not in
 * @keys. With replacement a task needs 2.5 KB for each distinct fraction. An exact sample needs 5 KB for each key.
 * Keeps the partitioner.
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
 * The pairs whose keys are from @low to @high, both included, in the order of fst_sort_by_key. Keys are given as to
 * fst_emit, and copied. If the keys are partitioned by range (by fst_sort_by_key or fst_partition_by_range), partitions
 * outside the range are not computed. Keeps the number of partitions and the partitioner.
 */
#define fst_filter_by_range(pairs, low, high)                                                                          \
        fst_filter_by_range_at((pairs), FST_KEY(low), FST_KEY(high), FST_HERE("filter_by_range"))
FST_API fst_rdd *fst_filter_by_range_at(fst_rdd *pairs, fst_key low, fst_key high, fst_site site);

/*
 * fst_rdd *fst_count_approx_distinct_by_key(fst_rdd *pairs, double relative_deviation)
 * fst_rdd *fst_count_approx_distinct_by_key_n(fst_rdd *pairs, double relative_deviation, int partitions)
 *
 * Pairs of a key and the approximate number of its distinct values, I64, as fst_count_approx_distinct. Each key takes
 * about 1.1 / deviation^2 bytes in each task. -EINVAL for a deviation below 0.0042.
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
 * Partition by hash, and sort each partition by key. For another partitioner, use fst_sort_within_partitions of
 * fst_partition_by_range or fst_partition_by_function.
 */
#define fst_repartition_and_sort_within_partitions(pairs, partitions, order)                                           \
        fst_sort_within_partitions_at(                                                                                 \
                fst_partition_by_at((pairs), (partitions), FST_HERE("repartition_and_sort_within_partitions")),        \
                (order), FST_HERE("repartition_and_sort_within_partitions"))

FST_END_DECLS
