/*
 * Actions.
 *
 * Each runs a job and returns 0, or a negative status whose message has been logged. Outputs are then unchanged: check
 * the status before you read them.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/iter.h>
#include <firesteel/map.h>
#include <firesteel/rdd.h>

#include <firesteel/detail/action.h>

FST_BEGIN_DECLS

/* int fst_count(fst_rdd *rdd, int64_t *count): the number of rows. NULL for @count only computes them. */
#define fst_count(rdd, count) fst_count_at((rdd), FST_COUNT_TO(count), FST_HERE("count"))
FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site);

/*
 * int fst_reduce(fst_rdd *rdd, FUNCTION f, T *result)
 *
 * Combine all rows into one by @f, a form of reduce. T is the rows' type: int64_t, double, fst_bytes, or the struct of
 * FIXED. -ENODATA ("empty collection") if there are no rows; -EINVAL if T is another type or a struct of another size.
 * Bytes are valid until the context stops. Partitions are combined in their order, whichever ends first.
 */
#define fst_reduce(rdd, f, result) fst_reduce_at((rdd), FST_FN(f), FST_VARIABLE(result), FST_HERE("reduce"))
FST_API int fst_reduce_at(fst_rdd *rdd, fst_fn f, fst_variable result, fst_site site);

/*
 * int fst_fold(fst_rdd *rdd, const T *zero, FUNCTION f, T *result)
 *
 * As reduce, but each partition starts with *@zero, and so does the combination of the partitions: *@zero is in the
 * result once for each partition and once more. Without rows it is the result.
 */
#define fst_fold(rdd, zero, f, result)                                                                                 \
        fst_fold_at((rdd), FST_CONSTANT(zero), FST_FN(f), FST_VARIABLE(result), FST_HERE("fold"))
FST_API int fst_fold_at(fst_rdd *rdd, fst_constant zero, fst_fn f, fst_variable result, fst_site site);

/*
 * int fst_aggregate(fst_rdd *rdd, const T *zero, FUNCTION take, FUNCTION combine, T *result)
 *
 * Collect all rows in an accumulator of another type. @take, a form of aggregate, adds a row to the accumulator of
 * its partition, which starts as *@zero. @combine, a form of reduce, combines two accumulators. *@zero counts as in
 * fold. T is int64_t, double, fst_bytes or a struct:
 *
 *      struct extent {
 *              int64_t rows;
 *              double most;
 *      };
 *      static int widen(fst_task *task, void *so_far, double row)
 *      {
 *              struct extent *e = so_far;
 *              e->rows++;
 *              e->most = fmax(e->most, row);
 *              return 0;
 *      }
 *      static int join(fst_task *task, void *so_far, const void *other)
 *      ...
 *      struct extent none = {0, -INFINITY}, all;
 *      fst_aggregate(numbers, &none, widen, join, &all);
 */
#define fst_aggregate(rdd, zero, take, combine, result)                                                                \
        fst_aggregate_at((rdd), FST_CONSTANT(zero), FST_FN(take), FST_FN(combine), FST_VARIABLE(result),               \
                         FST_HERE("aggregate"))
FST_API int fst_aggregate_at(fst_rdd *rdd, fst_constant zero, fst_fn take, fst_fn combine, fst_variable result,
                             fst_site site);

/*
 * int fst_tree_reduce(fst_rdd *rdd, FUNCTION f, int depth, T *result)
 * int fst_tree_aggregate(fst_rdd *rdd, const T *zero, FUNCTION take, FUNCTION combine, int depth, T *result)
 *
 * As reduce and aggregate, but executors combine the results of partitions in up to @depth stages (Spark's default is
 * 2), so the driver combines few: for many partitions with large values. With a depth of 1 the driver combines all of
 * them. Neighbours are combined, which keeps the order. *@zero counts once for each partition, for each value that a
 * stage passes on, and for the driver, so it should be neutral. -EINVAL for a @depth below 1.
 */
#define fst_tree_reduce(rdd, f, depth, result)                                                                         \
        fst_tree_reduce_at((rdd), FST_FN(f), (depth), FST_VARIABLE(result), FST_HERE("tree_reduce"))
#define fst_tree_aggregate(rdd, zero, take, combine, depth, result)                                                    \
        fst_tree_aggregate_at((rdd), FST_CONSTANT(zero), FST_FN(take), FST_FN(combine), (depth), FST_VARIABLE(result), \
                              FST_HERE("tree_aggregate"))
FST_API int fst_tree_reduce_at(fst_rdd *rdd, fst_fn f, int depth, fst_variable result, fst_site site);
FST_API int fst_tree_aggregate_at(fst_rdd *rdd, fst_constant zero, fst_fn take, fst_fn combine, int depth,
                                  fst_variable result, fst_site site);

/*
 * int fst_collect(fst_rdd *rdd, fst_iter **rows)
 *
 * All rows at the driver, partition by partition; read them with fst_next. spark.driver.maxResultSize limits their
 * size.
 */
#define fst_collect(rdd, rows) fst_collect_at((rdd), FST_ROWS_TO(rows), FST_HERE("collect"))
FST_API int fst_collect_at(fst_rdd *rdd, fst_iter **rows, fst_site site);

/*
 * int fst_take(fst_rdd *rdd, int64_t count, fst_iter **rows)
 *
 * The first @count rows in the order of partitions. Computes only as many partitions as necessary. A negative @count is
 * 0.
 */
#define fst_take(rdd, count, rows) fst_take_at((rdd), (count), FST_ROWS_TO(rows), FST_HERE("take"))
FST_API int fst_take_at(fst_rdd *rdd, int64_t count, fst_iter **rows, fst_site site);

/*
 * Print the first @n rows to standard output as a table, as Spark's show does: cells are cut to 20 characters, structs
 * are bytes in hexadecimal, control characters are escaped. A last line says if there are more rows. A negative @n is
 * 0. -errno if standard output cannot be written.
 */
#define fst_show(rdd, n) fst_show_at((rdd), (n), FST_HERE("show"))
FST_API int fst_show_at(fst_rdd *rdd, int64_t n, fst_site site);

/*
 * int fst_first(fst_rdd *rdd, T *row)
 * int fst_first(fst_rdd *pairs, K *key, V *value)
 *
 * The first row; the types are those of reduce. -ENODATA ("empty collection") if there are no rows. Computes only as
 * many partitions as necessary.
 */
#define fst_first(rdd, ...) FST_FIRST_PICK(__VA_ARGS__, FST_FIRST_2, FST_FIRST_1, )(rdd, __VA_ARGS__)
FST_API int fst_first_at(fst_rdd *rdd, fst_variable key, fst_variable value, fst_site site);

/*
 * int fst_is_empty(fst_rdd *rdd, bool *empty): whether the RDD has no rows. Computes only as many partitions as
 * necessary.
 */
#define fst_is_empty(rdd, empty) fst_is_empty_at((rdd), FST_BOOL_TO(empty), FST_HERE("is_empty"))
FST_API int fst_is_empty_at(fst_rdd *rdd, bool *empty, fst_site site);

/*
 * int fst_min(fst_rdd *rdd, T *row), int fst_max(fst_rdd *rdd, T *row)
 *
 * The least and the greatest row in the order of sort_by: numbers by value with NaN as the greatest, BYTES as unsigned
 * bytes, structs as bytes. Not for pairs. -ENODATA if there are no rows.
 */
#define fst_min(rdd, row) fst_min_at((rdd), FST_VARIABLE(row), FST_HERE("min"))
#define fst_max(rdd, row) fst_max_at((rdd), FST_VARIABLE(row), FST_HERE("max"))
FST_API int fst_min_at(fst_rdd *rdd, fst_variable row, fst_site site);
FST_API int fst_max_at(fst_rdd *rdd, fst_variable row, fst_site site);

/*
 * int fst_sum(fst_rdd *numbers, double *sum) or (…, int64_t *sum), int fst_mean(fst_rdd *numbers, double *mean)
 *
 * The sum and the mean of I64 or F64; 0 without rows. int64_t is for I64 only: the sum is exact, and wraps around. A
 * sum of doubles adds interleaved partial sums; it is the same for the same rows in the same partitions.
 */
#define fst_sum(numbers, sum) fst_sum_at((numbers), FST_VARIABLE(sum), FST_HERE("sum"))
#define fst_mean(numbers, mean) fst_mean_at((numbers), FST_F64_TO(mean), FST_HERE("mean"))
FST_API int fst_sum_at(fst_rdd *numbers, fst_variable sum, fst_site site);
FST_API int fst_mean_at(fst_rdd *numbers, double *mean, fst_site site);

/*
 * int fst_stats(fst_rdd *numbers, struct fst_statistics *stats)
 *
 * Compute all of it in one pass over I64 or F64. Without rows the result is 0, but min is +infinity, max -infinity, and
 * variances and deviations are NaN. One row has no sample variance: NaN. A NaN among the rows makes everything but the
 * count NaN.
 */
struct fst_statistics {
        int64_t count;
        double sum, mean, min, max;
        double variance, stdev;               /* of a population: divided by count */
        double sample_variance, sample_stdev; /* of a sample: divided by count - 1 */
};
#define fst_stats(numbers, stats) fst_stats_at((numbers), FST_STATISTICS_TO(stats), FST_HERE("stats"))
FST_API int fst_stats_at(fst_rdd *numbers, struct fst_statistics *stats, size_t size, fst_site site);

/*
 * int fst_histogram(fst_rdd *numbers, size_t buckets, struct fst_buckets *histogram)
 * int fst_histogram_by(fst_rdd *numbers, const double *bounds, size_t n, struct fst_buckets *histogram)
 *
 * The number of rows, of I64 or F64, in each of @buckets equally wide buckets from the least row to the greatest, or
 * between each two of @n ascending bounds. A bucket includes its lower bound; only the last one also includes its
 * upper bound. If all rows are equal, there is one bucket. The first form returns -ENODATA without rows, and -EDOM if
 * a row is NaN or infinite. The second form does not count rows outside the bounds, or NaN; it returns -EINVAL for
 * fewer than two bounds. The arrays are valid until the context stops.
 */
struct fst_buckets {
        size_t buckets;
        const double *bounds; /* buckets + 1 */
        const int64_t *counts;
};
#define fst_histogram(numbers, buckets, histogram)                                                                     \
        fst_histogram_at((numbers), NULL, (size_t)(buckets) + 1, FST_BUCKETS_TO(histogram), FST_HERE("histogram"))
#define fst_histogram_by(numbers, bounds, n, histogram)                                                                \
        fst_histogram_at((numbers), (bounds), (n), FST_BUCKETS_TO(histogram), FST_HERE("histogram"))
FST_API int fst_histogram_at(fst_rdd *numbers, const double *bounds, size_t n, struct fst_buckets *histogram,
                             size_t size, fst_site site);

/* int fst_foreach(fst_rdd *rdd, FUNCTION f): call @f for each row, on the executors. */
#define fst_foreach(rdd, f) fst_foreach_at((rdd), FST_FN(f), FST_HERE("foreach"))
FST_API int fst_foreach_at(fst_rdd *rdd, fst_fn f, fst_site site);

/*
 * int fst_foreach_partition(fst_rdd *rdd, FUNCTION f)
 *
 * Call @f once for each partition, on the executors, with an iterator of its rows. Use it where setup is expensive, for
 * example a connection. @f may return before it has read all rows.
 */
#define fst_foreach_partition(rdd, f) fst_foreach_partition_at((rdd), FST_FN(f), FST_HERE("foreach_partition"))
FST_API int fst_foreach_partition_at(fst_rdd *rdd, fst_fn f, fst_site site);

/*
 * int fst_top(fst_rdd *rdd, int64_t n, fst_iter **rows)
 * int fst_take_ordered(fst_rdd *rdd, int64_t n, fst_iter **rows)
 * int fst_take_ordered_by(fst_rdd *rdd, int64_t n, FUNCTION key, fst_type key_type, enum fst_order order,
 *                         fst_iter **rows)
 *
 * The @n greatest rows, greatest first; the @n least, least first; the first @n in the order of a key that @key, a
 * form of map, computes from each. The order is that of sort_by; pairs sort by key, then by value. Equal rows keep
 * the order of the RDD. Each task holds and sends at most @n rows. A negative @n is 0.
 */
#define fst_top(rdd, n, rows) fst_take_ordered_at((rdd), (n), FST_DESCENDING, FST_ROWS_TO(rows), FST_HERE("top"))
#define fst_take_ordered(rdd, n, rows)                                                                                 \
        fst_take_ordered_at((rdd), (n), FST_ASCENDING, FST_ROWS_TO(rows), FST_HERE("take_ordered"))
#define fst_take_ordered_by(rdd, n, key, key_type, order, rows)                                                        \
        fst_take_ordered_by_at((rdd), (n), FST_FN(key), (key_type), (order), FST_ROWS_TO(rows),                        \
                               FST_HERE("take_ordered_by"))
FST_API int fst_take_ordered_at(fst_rdd *rdd, int64_t n, enum fst_order order, fst_iter **rows, fst_site site);
FST_API int fst_take_ordered_by_at(fst_rdd *rdd, int64_t n, fst_fn key, fst_type key_type, enum fst_order order,
                                   fst_iter **rows, fst_site site);

/*
 * int fst_count_by_key(fst_rdd *pairs, fst_map **counts)
 *
 *      The number of rows of each key, I64.
 *
 * int fst_count_by_value(fst_rdd *rdd, fst_map **counts)
 *
 *      How often each row occurs, I64. Not for pairs.
 *
 * int fst_collect_as_map(fst_rdd *pairs, fst_map **map)
 *
 *      The last value of each key.
 *
 * int fst_reduce_by_key_locally(fst_rdd *pairs, FUNCTION f, fst_map **map)
 *
 *      As reduce_by_key, but without a shuffle: each task sends all of its keys to the driver, which combines them in
 *      the order of partitions.
 *
 * The results are maps at the driver (map.h), so keys should be few. spark.driver.maxResultSize limits their size.
 */
#define fst_count_by_key(pairs, counts) fst_count_by_key_at((pairs), FST_MAP_TO(counts), FST_HERE("count_by_key"))
#define fst_count_by_value(rdd, counts) fst_count_by_value_at((rdd), FST_MAP_TO(counts), FST_HERE("count_by_value"))
#define fst_collect_as_map(pairs, map) fst_collect_as_map_at((pairs), FST_MAP_TO(map), FST_HERE("collect_as_map"))
#define fst_reduce_by_key_locally(pairs, f, map)                                                                       \
        fst_reduce_by_key_locally_at((pairs), FST_FN(f), FST_MAP_TO(map), FST_HERE("reduce_by_key_locally"))
FST_API int fst_count_by_key_at(fst_rdd *pairs, fst_map **counts, fst_site site);
FST_API int fst_count_by_value_at(fst_rdd *rdd, fst_map **counts, fst_site site);
FST_API int fst_collect_as_map_at(fst_rdd *pairs, fst_map **map, fst_site site);
FST_API int fst_reduce_by_key_locally_at(fst_rdd *pairs, fst_fn f, fst_map **map, fst_site site);

/*
 * int fst_count_approx_distinct(fst_rdd *rdd, double relative_deviation, int64_t *n)
 *
 * The approximate number of distinct rows, from a sketch of each partition. @relative_deviation is the standard
 * deviation divided by the number, such as 0.05. A task needs about 1.1 / deviation^2 bytes. -EINVAL for more than 1
 * MiB, which is a deviation below 0.00103.
 */
#define fst_count_approx_distinct(rdd, relative_deviation, n)                                                          \
        fst_count_approx_distinct_at((rdd), (relative_deviation), FST_COUNT_TO(n), FST_HERE("count_approx_distinct"))
FST_API int fst_count_approx_distinct_at(fst_rdd *rdd, double relative_deviation, int64_t *n, fst_site site);

/*
 * int fst_lookup(fst_rdd *pairs, K key, fst_iter **values)
 *
 * The values of all rows with @key, which is given as to fst_emit. If @pairs has a partitioner (after partition_by,
 * reduce_by_key, sort_by_key), only one partition is computed.
 */
#define fst_lookup(pairs, key, values) fst_lookup_at((pairs), FST_KEY(key), (values), FST_HERE("lookup"))
FST_API int fst_lookup_at(fst_rdd *pairs, fst_key key, fst_iter **values, fst_site site);

/*
 * int fst_take_sample(fst_rdd *rdd, bool with_replacement, int64_t n, int64_t seed, fst_iter **rows)
 *
 * @n random rows in random order, or all rows if there are fewer (with replacement always @n, unless there are none).
 * The same seed takes the same rows of the same partitions, which are the rows that Spark takes. It runs a job that
 * counts and one that samples. -EINVAL for a negative @n.
 */
#define fst_take_sample(rdd, with_replacement, n, seed, rows)                                                          \
        fst_take_sample_at((rdd), (with_replacement), (n), (seed), FST_ROWS_TO(rows), FST_HERE("take_sample"))
FST_API int fst_take_sample_at(fst_rdd *rdd, bool with_replacement, int64_t n, int64_t seed, fst_iter **rows,
                               fst_site site);

/*
 * int fst_run_job(fst_rdd *rdd, FUNCTION f, fst_type type, const int *partitions, size_t n, fst_iter **rows)
 *
 * Call @f, a form of map_partitions, for the @n partitions in @partitions (NULL: all). The rows of @type that it
 * emits come to the driver in the order of @partitions, which may name a partition twice. -EINVAL for a partition
 * that does not exist.
 */
#define fst_run_job(rdd, f, type, partitions, n, rows)                                                                 \
        fst_run_job_at((rdd), FST_FN(f), (type), (partitions), (n), FST_ROWS_TO(rows), FST_HERE("run_job"))
FST_API int fst_run_job_at(fst_rdd *rdd, fst_fn f, fst_type type, const int *partitions, size_t n, fst_iter **rows,
                           fst_site site);

/*
 * int fst_to_local_iterator(fst_rdd *rdd, fst_iter **rows)
 *
 * All rows, with one partition at a time at the driver. Reading the first row of a partition runs a job, so persist an
 * expensive RDD. A row is valid until the next call of fst_next. If a job fails, fst_next returns false, and
 * fst_iter_status returns the status. Use the iterator from one thread.
 */
#define fst_to_local_iterator(rdd, rows)                                                                               \
        fst_to_local_iterator_at((rdd), FST_ROWS_TO(rows), FST_HERE("to_local_iterator"))
FST_API int fst_to_local_iterator_at(fst_rdd *rdd, fst_iter **rows, fst_site site);

/*
 * int fst_save_as_text_file(fst_rdd *rdd, const char *path)
 *
 * Write one line for each row to @path/part-00000, part-00001, …, and @path/_SUCCESS when all are complete. Numbers
 * are printed as Java prints them, pairs as "(key,value)", FIXED as hexadecimal. @path must not exist. A part appears
 * under its name only when it is complete and the job has succeeded.
 */
#define fst_save_as_text_file(rdd, path) fst_save_as_text_file_at((rdd), (path), NULL, FST_HERE("save_as_text_file"))

/*
 * int fst_save_as_text_file_codec(fst_rdd *rdd, const char *path, const char *codec)
 *
 * The same, compressed: "gzip" makes part-00000.gz, "bzip2" .bz2, "zstd" .zst, "lz4" .lz4 as Hadoop's Lz4Codec,
 * "deflate" .deflate. "none" overrides the configuration and does not compress. The names of Hadoop's classes are
 * accepted as well: "org.apache.hadoop.io.compress.GzipCodec".
 */
#define fst_save_as_text_file_codec(rdd, path, codec)                                                                  \
        fst_save_as_text_file_at((rdd), (path), (codec), FST_HERE("save_as_text_file"))
FST_API int fst_save_as_text_file_at(fst_rdd *rdd, const char *path, const char *codec, fst_site site);

/*
 * int fst_save_as_object_file(fst_rdd *rdd, const char *path)
 *
 * Write rows of any type for fst_object_file: @path/part-00000, … and _SUCCESS, as save_as_text_file does. The format
 * (docs/object-files.md) is Firesteel's own and detects damage.
 */
#define fst_save_as_object_file(rdd, path) fst_save_as_object_file_at((rdd), (path), FST_HERE("save_as_object_file"))
FST_API int fst_save_as_object_file_at(fst_rdd *rdd, const char *path, fst_site site);

/*
 * int fst_save_as_binary_records(fst_rdd *rdd, const char *path)
 *
 * Write the rows one after another without separators, for fst_binary_records or another program: FIXED as it is, I64
 * and F64 as 8 bytes in the byte order of this machine, a pair as its key followed by its value. @path/part-00000, …
 * and _SUCCESS as save_as_text_file does, but never compressed. -EINVAL for rows with BYTES, whose length varies.
 */
#define fst_save_as_binary_records(rdd, path)                                                                          \
        fst_save_as_binary_records_at((rdd), (path), FST_HERE("save_as_binary_records"))
FST_API int fst_save_as_binary_records_at(fst_rdd *rdd, const char *path, fst_site site);

FST_END_DECLS
