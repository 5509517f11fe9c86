/*
 * Sources: RDDs from files and from the driver's memory.
 */
#pragma once

#include <firesteel/rdd.h>

FST_BEGIN_DECLS

/*
 * fst_rdd *fst_text_file(fst_context *sc, const char *path)
 * fst_rdd *fst_text_file_n(fst_context *sc, const char *path, int min_partitions)
 *
 * The lines of text files as BYTES, without their "\n", "\r\n" or "\r": a lone "\r" ends a line, too. @path is a file,
 * a directory (whose files beginning with "." or "_" are left out), a glob, or a comma list of these; here ("file:…"),
 * in HDFS ("hdfs:", "webhdfs:", "swebhdfs:") or S3 ("s3a:", "s3:", "s3n:"), without a scheme in the default file
 * system of Hadoop's configuration. Files ending in .gz, .bz2, .zst, .lz4 or .deflate are unpacked and have one
 * partition each; others are split by size. A missing path is reported by the action.
 */
#define fst_text_file(sc, path) fst_text_file_at((sc), (path), 0, FST_HERE("text_file"))
#define fst_text_file_n(sc, path, min_partitions)                                                                      \
        fst_text_file_at((sc), (path), (min_partitions), FST_HERE("text_file"))
FST_API fst_rdd *fst_text_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site);

/*
 * fst_rdd *fst_whole_text_files(fst_context *sc, const char *path)
 * fst_rdd *fst_whole_text_files_n(fst_context *sc, const char *path, int min_partitions)
 * fst_rdd *fst_binary_files(fst_context *sc, const char *path)
 * fst_rdd *fst_binary_files_n(fst_context *sc, const char *path, int min_partitions)
 *
 * Files as rows, PAIR(BYTES, BYTES): the full path ("file:/data/x") and all of the content, which is at most 2 GiB and
 * lies in memory. Small files share partitions. Whole text files are unpacked as those of text_file, binary files are
 * given as they are. @path is as of text_file.
 */
#define fst_whole_text_files(sc, path) fst_whole_text_files_n(sc, path, 0)
#define fst_whole_text_files_n(sc, path, min_partitions)                                                               \
        fst_whole_text_files_at((sc), (path), (min_partitions), FST_HERE("whole_text_files"))
#define fst_binary_files(sc, path) fst_binary_files_n(sc, path, 0)
#define fst_binary_files_n(sc, path, min_partitions)                                                                   \
        fst_binary_files_at((sc), (path), (min_partitions), FST_HERE("binary_files"))
FST_API fst_rdd *fst_whole_text_files_at(fst_context *sc, const char *path, int min_partitions, fst_site site);
FST_API fst_rdd *fst_binary_files_at(fst_context *sc, const char *path, int min_partitions, fst_site site);

/*
 * fst_rdd *fst_binary_records(fst_context *sc, const char *path, uint32_t record_length)
 *
 * Files that are nothing but records of @record_length bytes, as FIXED(record_length): structs that a program wrote,
 * the records of TeraGen. A file with part of a record is an error. Partitions are by block.
 */
#define fst_binary_records(sc, path, record_length)                                                                    \
        fst_binary_records_at((sc), (path), (record_length), FST_HERE("binary_records"))
FST_API fst_rdd *fst_binary_records_at(fst_context *sc, const char *path, uint32_t record_length, fst_site site);

/*
 * fst_rdd *fst_object_file(fst_context *sc, const char *path, fst_type type)
 * fst_rdd *fst_object_file_n(fst_context *sc, const char *path, fst_type type, int min_partitions)
 *
 * The rows that fst_save_as_object_file wrote, which were of @type: the action fails for rows of another one.
 */
#define fst_object_file(sc, path, type) fst_object_file_n(sc, path, type, 0)
#define fst_object_file_n(sc, path, type, min_partitions)                                                              \
        fst_object_file_at((sc), (path), (type), (min_partitions), FST_HERE("object_file"))
FST_API fst_rdd *fst_object_file_at(fst_context *sc, const char *path, fst_type type, int min_partitions,
                                    fst_site site);

/*
 * fst_rdd *fst_parallelize(fst_context *sc, const T *data, size_t count)
 * fst_rdd *fst_parallelize_n(fst_context *sc, const T *data, size_t count, int partitions)
 *
 * An array as an RDD; T is int64_t, double, fst_bytes, or a struct without pointers, of which rows are FIXED. The data
 * is copied, bytes and all. Narrower numbers and C strings are refused by the compiler: rows of them there are none.
 */
#define fst_parallelize(sc, data, count) fst_parallelize_n(sc, data, count, 0)
#define fst_parallelize_n(sc, data, count, partitions)                                                                 \
        fst_parallelize_at((sc), (data), (count), FST_TYPE_BEHIND(data), (partitions), FST_HERE("parallelize"))
FST_API fst_rdd *fst_parallelize_at(fst_context *sc, const void *data, size_t count, fst_type type, int partitions,
                                    fst_site site);

/*
 * fst_rdd *fst_parallelize_pairs(fst_context *sc, const K *keys, const V *values, size_t count)
 * fst_rdd *fst_parallelize_pairs_n(fst_context *sc, const K *keys, const V *values, size_t count, int partitions)
 *
 * Two arrays as pairs: keys[i] with values[i]. Types as of parallelize.
 */
#define fst_parallelize_pairs(sc, keys, values, count) fst_parallelize_pairs_n(sc, keys, values, count, 0)
#define fst_parallelize_pairs_n(sc, keys, values, count, partitions)                                                   \
        fst_parallelize_pairs_at((sc), (keys), (values), (count), FST_TYPE_BEHIND(keys), FST_TYPE_BEHIND(values),      \
                                 (partitions), FST_HERE("parallelize_pairs"))
FST_API fst_rdd *fst_parallelize_pairs_at(fst_context *sc, const void *keys, const void *values, size_t count,
                                          fst_type key, fst_type value, int partitions, fst_site site);

/*
 * fst_rdd *fst_range(fst_context *sc, int64_t start, int64_t end)
 * fst_rdd *fst_range_n(fst_context *sc, int64_t start, int64_t end, int partitions)
 *
 * start, start + 1, …, end - 1 as I64, cut into equal partitions; no memory is used for them.
 */
#define fst_range(sc, start, end) fst_range_n(sc, start, end, 0)
#define fst_range_n(sc, start, end, partitions) fst_range_at((sc), (start), (end), (partitions), FST_HERE("range"))
FST_API fst_rdd *fst_range_at(fst_context *sc, int64_t start, int64_t end, int partitions, fst_site site);

FST_END_DECLS
