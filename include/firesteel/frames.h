/*
 * Frames: rows that another program's workers produce and consume, such as Python's.
 *
 *      #include <firesteel/frames.h>
 *
 * A frame is an int32 in big-endian order, the length, and as many bytes, which only the workers understand (a pickle).
 * The length -5 without bytes stands for null. A row of an RDD of frames is BYTES: one frame, or several one after
 * another, the elements of a pair. These are the bytes on the socket of a worker of PySpark, so batches of rows pass
 * between sockets and pages as they are.
 *
 * A binding creates frames from a file or from rows, computes on them (python.h), and serves the results to its driver
 * program on a socket. All other operators work on frames, too: union, coalesce, persist, checkpoint.
 */
#pragma once

#include <firesteel/pair.h>
#include <firesteel/rdd.h>
#include <firesteel/source.h>

FST_BEGIN_DECLS

/*
 * fst_rdd *fst_frames_from_file(fst_context *sc, const char *path, int slices)
 *
 * The frames of the local file @path, each one row; partition i of n has the frames i * count / n to (i + 1) * count / n.
 * 0 slices stands for the default parallelism. The call reads the lengths and maps the file into memory, so the caller
 * may remove it afterwards, but must not change it. The action reports a file that cannot be read or ends within a
 * frame.
 */
#define fst_frames_from_file(sc, path, slices)                                                                         \
        fst_frames_from_file_at((sc), (path), (slices), FST_HERE("frames_from_file"))
FST_API fst_rdd *fst_frames_from_file_at(fst_context *sc, const char *path, int slices, fst_site site);

/*
 * fst_rdd *fst_frames_from_rows(fst_rdd *rdd)
 * fst_rdd *fst_frames_to_rows(fst_rdd *frames)
 *
 * Each row as a frame: BYTES or FIXED as one, a pair of these as two. The reverse takes rows of one frame that is not
 * null and returns the bytes in it. The action fails for other rows, and for more than 2 GiB in a frame.
 */
#define fst_frames_from_rows(rdd) fst_frames_from_rows_at((rdd), FST_HERE("frames_from_rows"))
#define fst_frames_to_rows(frames) fst_frames_to_rows_at((frames), FST_HERE("frames_to_rows"))
FST_API fst_rdd *fst_frames_from_rows_at(fst_rdd *rdd, fst_site site);
FST_API fst_rdd *fst_frames_to_rows_at(fst_rdd *frames, fst_site site);

/*
 * fst_rdd *fst_frames_to_pairs(fst_rdd *frames)
 *
 * PAIR(I64, BYTES) of every two rows: a frame with a key of 8 bytes in big-endian order, then a row of frames, the value.
 * Workers compute the keys, usually hashes. The action fails for a partition with an odd number of rows.
 */
#define fst_frames_to_pairs(frames) fst_frames_to_pairs_at((frames), FST_HERE("frames_to_pairs"))
FST_API fst_rdd *fst_frames_to_pairs_at(fst_rdd *frames, fst_site site);

/*
 * fst_rdd *fst_frames_partition_by(fst_rdd *pairs, int partitions, int64_t function_id)
 * fst_rdd *fst_frames_values(fst_rdd *pairs)
 *
 * Place each pair in partition `(int32_t)key` modulo @partitions (never negative). @function_id names the function that
 * computed the keys: RDDs with the same number of partitions and the same id are placed alike, which spares a shuffle
 * and lets a union keep its partitions. The pairs of one input partition keep their order. The second returns the values
 * and keeps the partitioner.
 */
#define fst_frames_partition_by(pairs, partitions, function_id)                                                        \
        fst_frames_partition_by_at((pairs), (partitions), (function_id), FST_HERE("frames_partition_by"))
#define fst_frames_values(pairs) fst_frames_values_at((pairs), FST_HERE("frames_values"))
FST_API fst_rdd *fst_frames_partition_by_at(fst_rdd *pairs, int partitions, int64_t function_id, fst_site site);
FST_API fst_rdd *fst_frames_values_at(fst_rdd *pairs, fst_site site);

/*
 * fst_rdd *fst_frames_zip(fst_rdd *left, fst_rdd *right)
 * fst_rdd *fst_frames_cartesian(fst_rdd *left, fst_rdd *right)
 *
 * As fst_zip and fst_cartesian, but a row has the frames of the left row and then those of the right row.
 */
#define fst_frames_zip(left, right) fst_frames_zip_at((left), (right), FST_HERE("frames_zip"))
#define fst_frames_cartesian(left, right) fst_frames_cartesian_at((left), (right), FST_HERE("frames_cartesian"))
FST_API fst_rdd *fst_frames_zip_at(fst_rdd *left, fst_rdd *right, fst_site site);
FST_API fst_rdd *fst_frames_cartesian_at(fst_rdd *left, fst_rdd *right, fst_site site);

FST_END_DECLS
