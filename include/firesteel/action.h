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
                      FST_TAG(_Generic(*(result), int64_t                                                              \
                                       : FST_KIND_I64, double                                                          \
                                       : FST_KIND_F64, fst_bytes                                                       \
                                       : FST_KIND_BYTES, default                                                       \
                                       : FST_KIND_FIXED),                                                              \
                              FST_KIND_NONE),                                                                          \
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
