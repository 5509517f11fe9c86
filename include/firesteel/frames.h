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
 * fst_rdd *fst_frames_to_elements(fst_rdd *frames, fst_type type)
 * fst_rdd *fst_frames_from_elements(fst_rdd *rdd)
 *
 * Rows of any type in frames that hold many of them, each frame a list as in list.h: numbers are 8 bytes in the byte order
 * of this machine, BYTES have a length of four bytes before them. So a worker packs and unpacks rows by simple means, and
 * functions in C compute on them in between.
 */
#define fst_frames_to_elements(frames, type)                                                                           \
        fst_frames_to_elements_at((frames), (type), FST_HERE("frames_to_elements"))
#define fst_frames_from_elements(rdd) fst_frames_from_elements_at((rdd), FST_HERE("frames_from_elements"))
FST_API fst_rdd *fst_frames_to_elements_at(fst_rdd *frames, fst_type type, fst_site site);
FST_API fst_rdd *fst_frames_from_elements_at(fst_rdd *rdd, fst_site site);

/*
 * fst_rdd *fst_frames_to_numbers(fst_rdd *frames, fst_type type)
 *
 * The numbers in frames that are Python's pickles of a number or a list of numbers, as rows of @type: FST_I64 (int and
 * bool) or FST_F64 (float, too). The action fails for other objects.
 */
#define fst_frames_to_numbers(frames, type) fst_frames_to_numbers_at((frames), (type), FST_HERE("frames_to_numbers"))
FST_API fst_rdd *fst_frames_to_numbers_at(fst_rdd *frames, fst_type type, fst_site site);

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

/*
 * fst_rdd *fst_java_object_file(fst_context *sc, const char *path, int min_partitions)
 * int fst_save_as_java_object_file(fst_rdd *frames, const char *path)
 *
 * Files of byte arrays as Spark's saveAsObjectFile and PySpark's saveAsPickleFile write them, which genuine Spark reads
 * and writes, too: Hadoop's SequenceFiles of Java-serialized arrays of ten byte arrays. Each byte array is a frame.
 * Compressed files and files of other Java objects are refused. Path, partitions, and the files written are those of
 * fst_text_file and fst_save_as_text_file; 0 @min_partitions stands for the default. The second is an action and returns
 * a status. Rows of two frames cannot be saved.
 */
#define fst_java_object_file(sc, path, min_partitions)                                                                 \
        fst_java_object_file_at((sc), (path), (min_partitions), FST_HERE("java_object_file"))
#define fst_save_as_java_object_file(frames, path)                                                                     \
        fst_save_as_java_object_file_at((frames), (path), FST_HERE("save_as_java_object_file"))
FST_API fst_rdd *fst_java_object_file_at(fst_context *sc, const char *path, int min_partitions, fst_site site);
FST_API int fst_save_as_java_object_file_at(fst_rdd *frames, const char *path, fst_site site);

/*
 * fst_rdd *fst_native_call(fst_rdd *rdd, const char *file, const char *function, int argc, char **argv)
 *
 * Call a function of a C file, or of a shared object, by its name. A C file is compiled and cached as by spark-submit
 * (spark.firesteel.cc.flags). The function builds on @rdd with the operators of firesteel.h, in the driver, and may use
 * the @argc texts of @argv:
 *
 *      fst_rdd *count_words(fst_rdd *lines, int argc, char **argv)
 *      {
 *              return fst_reduce_by_key(fst_flat_map(lines, words, FST_PAIR(BYTES, I64)), fst_fn_sum);
 *      }
 *
 * Returns the RDD that it returns. The action reports a file that cannot be compiled or loaded, and a missing function.
 */
#define fst_native_call(rdd, file, function, argc, argv)                                                               \
        fst_native_call_at((rdd), (file), (function), (argc), (argv), FST_HERE("native_call"))
FST_API fst_rdd *fst_native_call_at(fst_rdd *rdd, const char *file, const char *function, int argc, char **argv,
                                    fst_site site);

/*
 * int fst_serve_rows(fst_rdd *frames, const int *partitions, size_t n, fst_served **served)
 * int fst_serve_partitions(fst_rdd *frames, bool prefetch, fst_served **served)
 *
 * Serve rows to a client of this machine, usually the driver program of a binding, on a socket of its own. The first
 * runs a job on the @n partitions of @partitions (NULL: all) before it returns; the client receives the frames of all
 * rows and then the end of the stream. With the second, the client asks for one partition after another: it sends an
 * int32 in big-endian order, 1 (0 ends it), and receives 1, the frames of the next partition and -1; or 0 after the last
 * partition; or -1 if the partition's job failed, which fst_served_wait then reports. With @prefetch the job of the
 * following partition runs meanwhile.
 *
 * The client must connect within spark.python.authenticate.socketTimeout. On TCP (127.0.0.1) it first sends the secret,
 * an int32 with its length before it, and receives "ok" in the same form. On a Unix socket
 * (spark.python.unix.domain.socket.enabled), which only this user can open, it sends nothing first. A thread of the
 * library serves the socket. The jobs have the local properties that the calling thread has now.
 *
 * Return 0, or a negative status of the job (spark.driver.maxResultSize limits its rows) or of the socket.
 */
typedef struct fst_served fst_served;
#define fst_serve_rows(frames, partitions, n, served)                                                                  \
        fst_serve_rows_at((frames), (partitions), (n), (served), FST_HERE("serve_rows"))
#define fst_serve_partitions(frames, prefetch, served)                                                                 \
        fst_serve_partitions_at((frames), (prefetch), (served), FST_HERE("serve_partitions"))
FST_API int fst_serve_rows_at(fst_rdd *frames, const int *partitions, size_t n, fst_served **served, fst_site site);
FST_API int fst_serve_partitions_at(fst_rdd *frames, bool prefetch, fst_served **served, fst_site site);

/* The TCP port and the secret, or 0 and NULL; the path of the Unix socket, or NULL. Borrowed until fst_served_release. */
FST_API int fst_served_port(const fst_served *served);
FST_API const char *fst_served_secret(const fst_served *served);
FST_API const char *fst_served_path(const fst_served *served);

/*
 * Wait until the client has everything or has gone, or the serving has failed. Returns 0, or the negative status of a
 * partition's job, -ETIMEDOUT if no client connected, or another status of the socket. A client that closes early is no
 * failure.
 */
FST_API int fst_served_wait(fst_served *served);

/* The message of that failure; NULL if nothing failed yet. Borrowed until fst_served_release. */
FST_API const char *fst_served_error(const fst_served *served);

/* Declare that the application does not use @served any more. A client is still served. NULL is allowed. */
FST_API void fst_served_release(fst_served *served);

/*
 * The message of the last call that failed on this thread: of an action, a context that could not start, a file that
 * could not be added; "" if none failed. A binding makes an exception of it. Borrowed until the next call on this
 * thread.
 */
FST_API const char *fst_last_failure(void);

FST_END_DECLS
