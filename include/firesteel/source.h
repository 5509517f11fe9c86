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
 * The lines of text files as BYTES. "\n", "\r\n" or a lone "\r" ends a line and is not part of it. @path is a file, a
 * directory (files whose names begin with "." or "_" are skipped), a glob, or a list of these with commas between
 * them; on this machine ("file:…"), in HDFS ("hdfs:", "webhdfs:", "swebhdfs:") or S3 ("s3a:", "s3:", "s3n:"). Without
 * a scheme the default file system of Hadoop's configuration applies. Files ending in .gz, .bz2, .zst, .lz4 or
 * .deflate are decompressed and have one partition each. Other files are split by size. The action reports a missing
 * path.
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
 * Files as rows, PAIR(BYTES, BYTES): the full path ("file:/data/x") and the whole content, which is in memory and at
 * most 2 GiB. Small files share partitions. Whole text files are decompressed as in text_file, binary files are not.
 * @path is that of text_file.
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
 * Files of records of @record_length bytes without separators, as FIXED(record_length): structs that a program wrote,
 * or TeraGen's records. A file with a partial record is an error. Partitions follow the blocks of the file system.
 */
#define fst_binary_records(sc, path, record_length)                                                                    \
        fst_binary_records_at((sc), (path), (record_length), FST_HERE("binary_records"))
FST_API fst_rdd *fst_binary_records_at(fst_context *sc, const char *path, uint32_t record_length, fst_site site);

/*
 * fst_rdd *fst_object_file(fst_context *sc, const char *path, fst_type type)
 * fst_rdd *fst_object_file_n(fst_context *sc, const char *path, fst_type type, int min_partitions)
 *
 * The rows that fst_save_as_object_file wrote. The action fails if they are not of @type.
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
 * The elements of an array. T is int64_t, double, fst_bytes, or a struct without pointers, whose rows are FIXED. The
 * data is copied, including the bytes that fst_bytes points to. Other element types (int, float, char *) do not
 * compile.
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
 * Pairs of the elements of two arrays: keys[i] with values[i]. K and V are types of parallelize.
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
 * start, start + 1, …, end - 1 as I64, in partitions of equal size. The numbers take no memory. As in all functions
 * ending in _n of this header, 0 partitions stands for the default.
 */
#define fst_range(sc, start, end) fst_range_n(sc, start, end, 0)
#define fst_range_n(sc, start, end, partitions) fst_range_at((sc), (start), (end), (partitions), FST_HERE("range"))
FST_API fst_rdd *fst_range_at(fst_context *sc, int64_t start, int64_t end, int partitions, fst_site site);

FST_END_DECLS
