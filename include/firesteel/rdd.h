/*
 * RDDs: sources, transformations, actions.
 *
 * An RDD is a description: of what type its rows are, of how many partitions it has, of how each partition is
 * computed from others. Transformations return a new one at once; nothing is computed before an action. The
 * operators are macros only to note the source line for error messages and to check functions; each is used as
 * the call that its comment shows. Names ending in _n take the number of partitions that the short form
 * chooses as Spark does. A type that cannot be (a FIXED of no bytes, or of more than FST_FIXED_MOST) is reported by
 * the action.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/context.h>
#include <firesteel/function.h>

/* Where in the application an operator was called. */
typedef struct fst_site {
        const char *operation; /* "flat_map" */
        const char *file;
        int line;
} fst_site;
#define FST_HERE(operation) ((fst_site){(operation), __FILE__, __LINE__})

/* ------------------------------------------------------------------------------------------------ sources */

/*
 * fst_rdd *fst_text_file(fst_context *sc, const char *path)
 * fst_rdd *fst_text_file_n(fst_context *sc, const char *path, int min_partitions)
 *
 * The lines of text files as BYTES, without their "\n" or "\r\n". @path is a file, a directory (whose files
 * beginning with "." or "_" are left out), a glob, or a comma list of these, optionally "file:…". Files ending
 * in .gz, .zst or .lz4 are unpacked and have one partition each; others are split by size. A missing path is
 * reported by the action.
 */
#define fst_text_file(sc, path) fst_text_file_at((sc), (path), 0, FST_HERE("text_file"))
#define fst_text_file_n(sc, path, min_partitions) fst_text_file_at((sc), (path), (min_partitions), FST_HERE("text_file"))
FST_API fst_rdd *fst_text_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site);

/*
 * fst_rdd *fst_parallelize(fst_context *sc, const T *data, size_t count)
 * fst_rdd *fst_parallelize_n(fst_context *sc, const T *data, size_t count, int partitions)
 *
 * An array as an RDD; T is int64_t, double or fst_bytes. The data is copied, bytes and all.
 */
#define fst_parallelize(sc, data, count) fst_parallelize_n(sc, data, count, 0)
#define fst_parallelize_n(sc, data, count, partitions)                                                                 \
        fst_parallelize_at((sc), (data), (count),                                                                      \
                           _Generic(*(data), int64_t: FST_I64, double: FST_F64, fst_bytes: FST_BYTES), (partitions),   \
                           FST_HERE("parallelize"))
FST_API fst_rdd *fst_parallelize_at(fst_context *sc, const void *data, size_t count, fst_type type, int partitions,
                                    fst_site site);

/*
 * fst_rdd *fst_range(fst_context *sc, int64_t start, int64_t end)
 * fst_rdd *fst_range_n(fst_context *sc, int64_t start, int64_t end, int partitions)
 *
 * start, start + 1, …, end - 1 as I64, cut into equal partitions; no memory is used for them.
 */
#define fst_range(sc, start, end) fst_range_n(sc, start, end, 0)
#define fst_range_n(sc, start, end, partitions) fst_range_at((sc), (start), (end), (partitions), FST_HERE("range"))
FST_API fst_rdd *fst_range_at(fst_context *sc, int64_t start, int64_t end, int partitions, fst_site site);

/* -------------------------------------------------------------------------------------- transformations */

/* fst_rdd *fst_map(fst_rdd *rdd, FUNCTION f, fst_type type): one row for each; see function.h for the forms. */
#define fst_map(rdd, f, type) fst_map_at((rdd), FST_FN(f), (type), FST_HERE("map"))
FST_API fst_rdd *fst_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_flat_map(fst_rdd *rdd, FUNCTION f, fst_type type): any number of rows for each. */
#define fst_flat_map(rdd, f, type) fst_flat_map_at((rdd), FST_FN(f), (type), FST_HERE("flat_map"))
FST_API fst_rdd *fst_flat_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_filter(fst_rdd *rdd, FUNCTION f): the rows for which @f is true. The partitioner is kept. */
#define fst_filter(rdd, f) fst_filter_at((rdd), FST_FN(f), FST_HERE("filter"))
FST_API fst_rdd *fst_filter_at(fst_rdd *rdd, fst_fn f, fst_site site);

/* fst_rdd *fst_map_values(fst_rdd *pairs, FUNCTION f, fst_type value): keys, and so the partitioner, are kept. */
#define fst_map_values(pairs, f, value) fst_map_values_at((pairs), FST_FN(f), (value), FST_HERE("map_values"))
FST_API fst_rdd *fst_map_values_at(fst_rdd *pairs, fst_fn f, fst_type value, fst_site site);

/*
 * fst_rdd *fst_map_partitions(fst_rdd *rdd, FUNCTION f, fst_type type): a whole partition at a time, read through
 * an iterator, or batch by batch.
 */
#define fst_map_partitions(rdd, f, type) fst_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions"))
FST_API fst_rdd *fst_map_partitions_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

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

enum fst_order { FST_ASCENDING, FST_DESCENDING };

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
 * fst_rdd *fst_sort_by(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order)
 * fst_rdd *fst_sort_by_n(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order, int partitions)
 *
 * Rows of any type in the order of a key computed from each; @key has a form of map, or is fst_identity for rows
 * that are no pairs.
 */
#define fst_sort_by(rdd, key, key_type, order) fst_sort_by_n(rdd, key, key_type, order, 0)
#define fst_sort_by_n(rdd, key, key_type, order, partitions)                                                           \
        fst_sort_by_at((rdd), FST_FN(key), (key_type), (order), (partitions), FST_HERE("sort_by"))
FST_API fst_rdd *fst_sort_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, enum fst_order order, int partitions,
                                fst_site site);

/*
 * fst_rdd *fst_union(fst_rdd *a, fst_rdd *b)
 * fst_rdd *fst_union_all(fst_context *sc, fst_rdd *const *rdds, size_t n)
 *
 * The rows of RDDs of one type, duplicates and all: the partitions of the first, then those of the second, … If equal
 * keys are in the same partitions of all of them (they have one partitioner), partition i is all their partitions i,
 * and the partitioner is kept. The array is copied.
 */
#define fst_union(a, b) fst_union_at((a), (b), FST_HERE("union"))
#define fst_union_all(sc, rdds, n) fst_union_all_at((sc), (rdds), (n), FST_HERE("union"))
FST_API fst_rdd *fst_union_at(fst_rdd *a, fst_rdd *b, fst_site site);
FST_API fst_rdd *fst_union_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_site site);

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

/* Rows placed by the hash of their keys: equal keys end in the same partition. No-op if they already are. */
#define fst_partition_by(pairs, partitions) fst_partition_by_at((pairs), (partitions), FST_HERE("partition_by"))
FST_API fst_rdd *fst_partition_by_at(fst_rdd *pairs, int partitions, fst_site site);

/* Fewer partitions by putting neighbours together, without a shuffle. Never more than before. */
#define fst_coalesce(rdd, partitions) fst_coalesce_at((rdd), (partitions), FST_HERE("coalesce"))
FST_API fst_rdd *fst_coalesce_at(fst_rdd *rdd, int partitions, fst_site site);

/*
 * Keep an RDD once it was computed. Memory that is short evicts the least recently used partitions: to disk, or
 * to be computed again. Both return @rdd.
 */
enum fst_storage_level {
        FST_STORAGE_NONE,
        FST_MEMORY_ONLY,
        FST_MEMORY_AND_DISK,
        FST_DISK_ONLY,
        FST_MEMORY_ONLY_2, /* the same, with a copy on a second executor: one may be lost */
        FST_MEMORY_AND_DISK_2,
        FST_DISK_ONLY_2,
        FST_DISK_ONLY_3, /* on three executors */
};

FST_API fst_rdd *fst_persist(fst_rdd *rdd, enum fst_storage_level level);
FST_API fst_rdd *fst_unpersist(fst_rdd *rdd);
static inline fst_rdd *fst_cache(fst_rdd *rdd)
{
        return fst_persist(rdd, FST_MEMORY_ONLY);
}

FST_API int fst_rdd_id(const fst_rdd *rdd);

/* The number of partitions, or a negative status (a source may have to look at its files). */
FST_API int fst_rdd_partitions(fst_rdd *rdd);
FST_API fst_type fst_rdd_type(const fst_rdd *rdd);

/* A name for logs and pages; copied. Returns @rdd. */
FST_API fst_rdd *fst_rdd_set_name(fst_rdd *rdd, const char *name);

/* ----------------------------------------------------------------------------------------------- actions */
/*
 * Each runs a job and returns 0, or a negative status whose message was logged. Outputs are then untouched: look at
 * the status before you read them.
 */

#define fst_count(rdd, count) fst_count_at((rdd), (count), FST_HERE("count"))
FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site);

/*
 * int fst_reduce(fst_rdd *rdd, FUNCTION f, int64_t *result)       or double *, fst_bytes *, struct … * of FIXED
 *
 * All rows combined into one by a function of reduce's form. -ENODATA ("empty collection") if there are none; -EINVAL
 * if @result is for another type, or a struct of another size. Bytes are valid until the context stops.
 */
#define fst_reduce(rdd, f, result)                                                                                     \
        fst_reduce_at((rdd), FST_FN(f),                                                                                \
                      FST_TAG(_Generic(*(result), int64_t: FST_KIND_I64, double: FST_KIND_F64,                         \
                                       fst_bytes: FST_KIND_BYTES, default: FST_KIND_FIXED), FST_KIND_NONE),            \
                      (result), sizeof(*(result)), FST_HERE("reduce"))
FST_API int fst_reduce_at(fst_rdd *rdd, fst_fn f, uint32_t result_tag, void *result, size_t result_size, fst_site site);

/* All rows at the driver, partition by partition; read them with fst_next. Held to spark.driver.maxResultSize. */
#define fst_collect(rdd, rows) fst_collect_at((rdd), (rows), FST_HERE("collect"))
FST_API int fst_collect_at(fst_rdd *rdd, fst_iter **rows, fst_site site);

/* The first @count rows in the order of partitions, looking at as few partitions as that takes. */
#define fst_take(rdd, count, rows) fst_take_at((rdd), (count), (rows), FST_HERE("take"))
FST_API int fst_take_at(fst_rdd *rdd, int64_t count, fst_iter **rows, fst_site site);

/* int fst_foreach(fst_rdd *rdd, FUNCTION f): call @f for each row, on the executors. */
#define fst_foreach(rdd, f) fst_foreach_at((rdd), FST_FN(f), FST_HERE("foreach"))
FST_API int fst_foreach_at(fst_rdd *rdd, fst_fn f, fst_site site);

/*
 * Write one line a row into @path/part-00000, part-00001, …, and @path/_SUCCESS when all are complete. Numbers
 * are printed as Java prints them, pairs as "(key,value)", FIXED as hexadecimal. @path must not exist. A part
 * appears under its name only when the whole of it was written and the job succeeded.
 */
#define fst_save_as_text_file(rdd, path) fst_save_as_text_file_at((rdd), (path), FST_HERE("save_as_text_file"))
FST_API int fst_save_as_text_file_at(fst_rdd *rdd, const char *path, fst_site site);
