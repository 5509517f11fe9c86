/*
 * Transformations of pairs: by key.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>
#include <firesteel/transform.h>

/* fst_rdd *fst_map_values(fst_rdd *pairs, FUNCTION f, fst_type value): keys, and so the partitioner, are kept. */
#define fst_map_values(pairs, f, value) fst_map_values_at((pairs), FST_FN(f), (value), FST_HERE("map_values"))
FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

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
 * All rows in the order of their keys: partition 0 before partition 1, sorted within. Numbers sort by value
 * (NaN last), bytes as unsigned bytes, FIXED keys as bytes. Building it runs no job; its first action samples.
 */
#define fst_sort_by_key(pairs, order) fst_sort_by_key_n(pairs, order, 0)
#define fst_sort_by_key_n(pairs, order, partitions)                                                                    \
        fst_sort_by_key_at((pairs), (order), (partitions), FST_HERE("sort_by_key"))
FST_API fst_rdd *fst_sort_by_key_at(fst_rdd *pairs, enum fst_order order, int partitions, fst_site site);

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
 * Both sides are pairs with keys of one type. A side that is partitioned as the join wants it is not shuffled. The join
 * wants what Spark's does: @partitions by hash; without a number, the partitioner of the side that has one (and more
 * partitions) unless that has less than a tenth of the other side's partitions, or fewer than
 * spark.default.parallelism; otherwise spark.default.parallelism partitions by hash, or as many as the larger side has.
 * Rows come in the order of keys within a partition, for one key in the order of the left and then of the right rows.
 * A key may have more rows than memory holds. As @f chooses the keys of what it emits, no partitioner is known
 * afterwards.
 */
#define fst_join(left, right, f, type) fst_join_n(left, right, f, type, 0)
#define fst_join_n(left, right, f, type, partitions)                                                                   \
        fst_join_at((left), (right), FST_FN(f), (type), (partitions), FST_HERE("join"))
FST_API fst_rdd *fst_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions, fst_site site);

/*
 * fst_rdd *fst_partition_by(fst_rdd *pairs, int partitions)
 * fst_rdd *fst_partition_by_range(fst_rdd *pairs, int partitions, enum fst_order order)
 * fst_rdd *fst_partition_by_function(fst_rdd *pairs, int partitions, FUNCTION f)
 *
 * Rows placed by their keys, so that equal keys are in the same partition: by hash; by order, in ranges that a sample of
 * the keys makes about equally large; or where @f says, which is called with a key and @partitions, and answers 0 …
 * @partitions - 1. By hash, and by the same function with equal captured values: nothing is done if they already are.
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
 * fst_rdd *fst_repartition_and_sort_within_partitions(fst_rdd *pairs, int partitions, enum fst_order order)
 *
 * Placed by hash, each partition in the order of keys. For other places: fst_sort_within_partitions of another
 * fst_partition_by….
 */
#define fst_repartition_and_sort_within_partitions(pairs, partitions, order)                                           \
        fst_sort_within_partitions_at(                                                                                 \
                fst_partition_by_at((pairs), (partitions), FST_HERE("repartition_and_sort_within_partitions")),        \
                (order), FST_HERE("repartition_and_sort_within_partitions"))
