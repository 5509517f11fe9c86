/*
 * RDDs: what they are, and what one can say about one.
 *
 * An RDD is a description: of what type its rows are, of how many partitions it has, of how each partition is
 * computed from others. Sources (source.h) and transformations (transform.h, pair.h) return a new one at once; nothing
 * is computed before an action (action.h). These are macros only to note the source line for error messages and to
 * check functions; each is used as the call that its comment shows. Names ending in _n take the number of partitions
 * that the short form chooses as Spark does. A type that cannot be (a FIXED of no bytes, or of more than
 * FST_FIXED_MAX) is reported by the action.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/context.h>

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

enum fst_order { FST_ASCENDING, FST_DESCENDING };

/*
 * Keep an RDD once it was computed. Memory that is short evicts the least recently used partitions of other RDDs: to
 * disk, or to be computed again. Both return @rdd. An RDD that has a level keeps it: another one is an error, which the
 * next action reports, until fst_unpersist.
 */
enum fst_storage_level {
        FST_STORAGE_NONE,
        FST_STORAGE_MEMORY_ONLY,
        FST_STORAGE_MEMORY_AND_DISK,
        FST_STORAGE_DISK_ONLY,
        FST_STORAGE_MEMORY_ONLY_2, /* the same, with a copy on a second executor: one may be lost */
        FST_STORAGE_MEMORY_AND_DISK_2,
        FST_STORAGE_DISK_ONLY_2,
        FST_STORAGE_DISK_ONLY_3,     /* on three executors */
        FST_STORAGE_MEMORY_ONLY_SER, /* compressed, if spark.rdd.compress: less memory, slower to read */
        FST_STORAGE_MEMORY_ONLY_SER_2,
        FST_STORAGE_MEMORY_AND_DISK_SER,
        FST_STORAGE_MEMORY_AND_DISK_SER_2,
        FST_STORAGE_OFF_HEAP, /* the same, but in memory of spark.memory.offHeap.size, if spark.memory.offHeap.enabled
                               */
};

FST_API fst_rdd *fst_persist(fst_rdd *rdd, enum fst_storage_level level);
FST_API fst_rdd *fst_unpersist(fst_rdd *rdd);
/* The same, and it returns when every executor has given the memory and files back. */
FST_API fst_rdd *fst_unpersist_blocking(fst_rdd *rdd);
static inline fst_rdd *fst_cache(fst_rdd *rdd)
{
        return fst_persist(rdd, FST_STORAGE_MEMORY_ONLY);
}

/* The level that it has: FST_STORAGE_NONE if it is not persisted. */
FST_API enum fst_storage_level fst_rdd_storage_level(const fst_rdd *rdd);

/*
 * What is kept of an RDD at the moment, and which RDDs are persisted: up to @max of them into @rdds, the oldest first;
 * how many there are. Any thread of the driver.
 */
struct fst_storage_info {
        enum fst_storage_level level;
        int cached_partitions;            /* of which there is a copy */
        int64_t memory_bytes, disk_bytes; /* of all copies */
};
#define fst_get_storage_info(rdd, info)                                                                                \
        fst_get_storage_info_at((rdd), FST_POINTER_TO(struct fst_storage_info, info, fst_refuse_storage_info),         \
                                sizeof(*(info)))
FST_API int fst_get_storage_info_at(const fst_rdd *rdd, struct fst_storage_info *info, size_t size);
FST_REFUSE(struct fst_storage_info *, fst_refuse_storage_info,
           "fst_get_storage_info writes to a struct fst_storage_info: see firesteel/rdd.h");

FST_API int fst_persisted_rdds(fst_context *sc, fst_rdd **rdds, size_t max);

/*
 * int fst_set_checkpoint_dir(fst_context *sc, const char *dir)
 * fst_rdd *fst_checkpoint(fst_rdd *rdd)
 *
 * Forget what an RDD is computed from once its rows are in files: the first action that needs it is followed by a job
 * that writes them (computing them again, unless the RDD is persisted), and from then on they are read from there. The
 * directory, which executors must reach as well, gets one for this application, with one for each RDD; they stay when
 * the application ends. Without it the action fails; spark.checkpoint.dir gives it, too. 0, or a negative status that
 * was logged; @rdd.
 */
FST_API int fst_set_checkpoint_dir(fst_context *sc, const char *dir);
FST_API fst_rdd *fst_checkpoint(fst_rdd *rdd);

/* This application's directory for them, with its file system ("file:/…"), or NULL: none was made yet. Borrowed until
 * the context stops, or fst_set_checkpoint_dir. */
FST_API const char *fst_checkpoint_dir(fst_context *sc);

/* The directory of its files, borrowed; NULL until it was written, and for local checkpoints. */
FST_API const char *fst_checkpoint_file(const fst_rdd *rdd);

/*
 * Forget what an RDD is computed from: its rows are kept on executors, and are read from there once a job has computed
 * them all (which the first action on it sees to). The RDD is persisted with a level that uses disk, also if it has or
 * gets one that does not. Quick, and of no help against lost executors: partitions that were on one are lost for good.
 * fst_checkpoint of such an RDD changes nothing. Returns @rdd.
 */
FST_API fst_rdd *fst_local_checkpoint(fst_rdd *rdd);

/* Whether it is read from a checkpoint by now. */
FST_API bool fst_is_checkpointed(const fst_rdd *rdd);

/*
 * void fst_release(fst_rdd *rdd)
 * int fst_scope_begin(fst_context *sc), void fst_scope_end(fst_context *sc, int scope, const fst_rdd *keep)
 *
 * Say that an RDD is not used by the application any more: its cached partitions and map outputs are removed (and its
 * checkpoint, with spark.cleaner.referenceTracking.cleanCheckpoints=true) once none that is computed from it is in use
 * either, and no other thread has an action. A program that goes on for many rounds releases what a round has made, one
 * by one or all that was made since fst_scope_begin, by any thread, but for @keep (or NULL) and what that needs. Where
 * each round is computed from the one before, all are needed: a checkpoint now and then cuts that. Everything is
 * released when the context stops. The handle may not be used afterwards. NULL is allowed.
 */
FST_API void fst_release(fst_rdd *rdd);
FST_API int fst_scope_begin(fst_context *sc);
FST_API void fst_scope_end(fst_context *sc, int scope, const fst_rdd *keep);

/*
 * Its number in the application, or -EINVAL if there is no such RDD. For NULL, and for an RDD of a stopped context,
 * functions that only look at one log an error and answer what an RDD without anything of the kind would.
 */
FST_API int fst_rdd_id(const fst_rdd *rdd);

/*
 * The RDD and what it is computed from, a line each, with partitions, ids and source lines: what is behind a shuffle is
 * set in. Borrowed until the context stops. Of an RDD that cannot be, why. What several RDDs are computed from comes
 * again below each of them, until there are 10,000 lines.
 */
FST_API const char *fst_to_debug_string(fst_rdd *rdd);

/* The number of partitions, or a negative status (a source may have to look at its files). */
FST_API int fst_rdd_partitions(fst_rdd *rdd);
FST_API fst_type fst_rdd_type(const fst_rdd *rdd);

/* A name for logs and pages; copied. Returns @rdd. */
FST_API fst_rdd *fst_rdd_set_name(fst_rdd *rdd, const char *name);

/*
 * By what keys are placed, so that equal ones are in one of its fst_rdd_partitions, and whether two RDDs place every
 * key alike: then a join or cogroup of both shuffles nothing.
 */
enum fst_partitioner { FST_NO_PARTITIONER, FST_HASH_PARTITIONER, FST_RANGE_PARTITIONER, FST_FUNCTION_PARTITIONER };
FST_API enum fst_partitioner fst_rdd_partitioner(const fst_rdd *rdd);
FST_API bool fst_rdd_same_partitioner(const fst_rdd *a, const fst_rdd *b);

FST_END_DECLS
