/*
 * Actions.
 *
 * Each runs a job and returns 0, or a negative status whose message was logged. Outputs are then untouched: look at
 * the status before you read them.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/iter.h>
#include <firesteel/rdd.h>

#include <firesteel/detail/action.h>

#define fst_count(rdd, count) fst_count_at((rdd), (count), FST_HERE("count"))
FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site);

/*
 * int fst_reduce(fst_rdd *rdd, FUNCTION f, T *result)
 *
 * All rows combined into one by a function of reduce's form. T is what the rows are: int64_t, double, fst_bytes, or the
 * struct of FIXED. -ENODATA ("empty collection") if there are none; -EINVAL if T is another type, or a struct of another
 * size. Bytes are valid until the context stops. Partitions are combined in their order, whichever ends first.
 */
#define fst_reduce(rdd, f, result) fst_reduce_at((rdd), FST_FN(f), FST_VARIABLE(result), FST_HERE("reduce"))
FST_API int fst_reduce_at(fst_rdd *rdd, fst_fn f, fst_variable result, fst_site site);

/*
 * int fst_fold(fst_rdd *rdd, const T *zero, FUNCTION f, T *result)
 *
 * As reduce, but each partition begins with *@zero, and so does what combines the partitions: as many times as there
 * are partitions, and once more, @zero is in the result. Without rows it is the result.
 */
#define fst_fold(rdd, zero, f, result)                                                                                 \
        fst_fold_at((rdd), FST_CONSTANT(zero), FST_FN(f), FST_VARIABLE(result), FST_HERE("fold"))
FST_API int fst_fold_at(fst_rdd *rdd, fst_constant zero, fst_fn f, fst_variable result, fst_site site);

/*
 * int fst_aggregate(fst_rdd *rdd, const T *zero, FUNCTION take, FUNCTION combine, T *result)
 *
 * All rows taken into a value of another type than theirs: @take, of aggregate's form, takes a row into what was
 * gathered so far in its partition, which is *@zero at first; @combine, of reduce's form, two such values into one.
 * *@zero counts as in fold. T is int64_t, double, fst_bytes or a struct:
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
#define fst_save_as_text_file(rdd, path) fst_save_as_text_file_at((rdd), (path), NULL, FST_HERE("save_as_text_file"))

/*
 * int fst_save_as_text_file_codec(fst_rdd *rdd, const char *path, const char *codec)
 *
 * The same, packed: "gzip" makes part-00000.gz, "bzip2" .bz2, "zstd" .zst, "lz4" .lz4 as Hadoop's Lz4Codec, "deflate"
 * .deflate; "none" packs nothing, whatever the configuration says. Hadoop's classes are known by their names as well:
 * "org.apache.hadoop.io.compress.GzipCodec".
 */
#define fst_save_as_text_file_codec(rdd, path, codec)                                                                  \
        fst_save_as_text_file_at((rdd), (path), (codec), FST_HERE("save_as_text_file"))
FST_API int fst_save_as_text_file_at(fst_rdd *rdd, const char *path, const char *codec, fst_site site);
