/*
 * RDDs: persisting, checkpoints, properties.
 *
 * An RDD describes the type of its rows, the number of its partitions, and how each partition is computed from
 * others. Sources (source.h) and transformations (transform.h, pair.h) return a new RDD at once. An action (action.h)
 * computes it. The macros note the source line for error messages and check functions. Call them as their comments
 * show. A name ending in _n takes the number of partitions, which the short form chooses as Spark does. The action
 * reports an invalid type (a FIXED of no bytes, or of more than FST_FIXED_MAX).
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/context.h>

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

enum fst_order { FST_ASCENDING, FST_DESCENDING };

/*
 * Keep the rows of an RDD when they are computed. If memory is short, the least recently used partitions of other RDDs
 * are evicted: to disk, or to be recomputed. Both functions return @rdd. To change the level of an RDD, call
 * fst_unpersist first. Otherwise the next action fails.
 */
enum fst_storage_level {
        FST_STORAGE_NONE,
        FST_STORAGE_MEMORY_ONLY,
        FST_STORAGE_MEMORY_AND_DISK,
        FST_STORAGE_DISK_ONLY,
        FST_STORAGE_MEMORY_ONLY_2, /* with a copy on a second executor, so that the loss of one loses no rows */
        FST_STORAGE_MEMORY_AND_DISK_2,
        FST_STORAGE_DISK_ONLY_2,
        FST_STORAGE_DISK_ONLY_3,     /* on three executors */
        FST_STORAGE_MEMORY_ONLY_SER, /* compressed if spark.rdd.compress is set: less memory, slower to read */
        FST_STORAGE_MEMORY_ONLY_SER_2,
        FST_STORAGE_MEMORY_AND_DISK_SER,
        FST_STORAGE_MEMORY_AND_DISK_SER_2,
        FST_STORAGE_OFF_HEAP, /* in memory of spark.memory.offHeap.size, if spark.memory.offHeap.enabled is set */
};

FST_API fst_rdd *fst_persist(fst_rdd *rdd, enum fst_storage_level level);
FST_API fst_rdd *fst_unpersist(fst_rdd *rdd);
/* The same, but returns only when every executor has released the memory and files. */
FST_API fst_rdd *fst_unpersist_blocking(fst_rdd *rdd);
static inline fst_rdd *fst_cache(fst_rdd *rdd)
{
        return fst_persist(rdd, FST_STORAGE_MEMORY_ONLY);
}

/* The storage level: FST_STORAGE_NONE if the RDD is not persisted. */
FST_API enum fst_storage_level fst_rdd_storage_level(const fst_rdd *rdd);

/*
 * int fst_get_storage_info(const fst_rdd *rdd, struct fst_storage_info *info)
 * int fst_persisted_rdds(fst_context *sc, fst_rdd **rdds, size_t max)
 *
 * Read how much of an RDD is persisted now. Returns 0, or -EINVAL for NULL. List the persisted RDDs, the oldest first:
 * writes up to @max of them to @rdds, and returns their number. Any thread of the driver.
 */
struct fst_storage_info {
        enum fst_storage_level level;
        int cached_partitions;            /* partitions with at least one copy */
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
 * Write the rows of an RDD to files and cut its lineage: after the first action that needs the RDD, another job writes
 * the files (it recomputes the rows unless the RDD is persisted); later jobs read them. All executors must be able to
 * reach @dir. The application makes a directory of its own in it, with one for each RDD; they remain when it ends.
 * Without a directory (here or in spark.checkpoint.dir) the action fails. fst_set_checkpoint_dir returns a status,
 * fst_checkpoint returns @rdd.
 */
FST_API int fst_set_checkpoint_dir(fst_context *sc, const char *dir);
FST_API fst_rdd *fst_checkpoint(fst_rdd *rdd);

/*
 * This application's checkpoint directory with its file system ("file:/…"), or NULL if none is set. Borrowed until the
 * context stops or fst_set_checkpoint_dir is called.
 */
FST_API const char *fst_checkpoint_dir(fst_context *sc);

/* The directory of the checkpoint's files, borrowed. NULL before they are written, and for local checkpoints. */
FST_API const char *fst_checkpoint_file(const fst_rdd *rdd);

/*
 * Cut the lineage of an RDD without files: executors keep its rows, and later jobs read them there once a job has
 * computed them all, which the first action on the RDD ensures. The RDD is persisted at a level that uses disk, even if
 * its own level does not. This is fast, but partitions that were on a lost executor are lost. fst_checkpoint of such an
 * RDD has no effect. Returns @rdd.
 */
FST_API fst_rdd *fst_local_checkpoint(fst_rdd *rdd);

/* True once the RDD is read from a checkpoint. */
FST_API bool fst_is_checkpointed(const fst_rdd *rdd);

/*
 * void fst_release(fst_rdd *rdd)
 * int fst_scope_begin(fst_context *sc), void fst_scope_end(fst_context *sc, int scope, const fst_rdd *keep)
 *
 * Declare that the application does not use an RDD any more. Its cached partitions and map outputs are removed (and
 * its checkpoint, with spark.cleaner.referenceTracking.cleanCheckpoints=true) once no RDD that is in use depends on
 * it, no future's job uses it, and no other thread runs an action. A program with many rounds should release what each
 * round made, one RDD at a time or all that any thread made since fst_scope_begin, except @keep (or NULL) and what
 * @keep depends on. If each round depends on the one before, checkpoint now and then to cut the lineage. The context
 * releases everything when it stops. Do not use the handle afterwards. NULL is allowed.
 */
FST_API void fst_release(fst_rdd *rdd);
FST_API int fst_scope_begin(fst_context *sc);
FST_API void fst_scope_end(fst_context *sc, int scope, const fst_rdd *keep);

/*
 * The RDD's number in the application, or -EINVAL if there is no such RDD. For NULL, or an RDD of a stopped context,
 * the functions below log an error and return the empty value.
 */
FST_API int fst_rdd_id(const fst_rdd *rdd);

/*
 * Describe the RDD and its lineage, one line for each RDD, with partitions, ids and source lines. Lines before a
 * shuffle are indented. An RDD on which several depend appears below each of them; at most 10,000 lines are written.
 * For an invalid RDD, returns the error message. May read files. Borrowed until the context stops.
 */
FST_API const char *fst_to_debug_string(fst_rdd *rdd);

/* The number of partitions, or a negative status. A source may have to read its directory. */
FST_API int fst_rdd_partitions(fst_rdd *rdd);
FST_API fst_type fst_rdd_type(const fst_rdd *rdd);

/* Set the name for logs and pages. The text is copied. Returns @rdd. */
FST_API fst_rdd *fst_rdd_set_name(fst_rdd *rdd, const char *name);

/*
 * How keys are placed in partitions, and whether two RDDs place all keys alike: a join or cogroup of these needs no
 * shuffle.
 */
enum fst_partitioner { FST_NO_PARTITIONER, FST_HASH_PARTITIONER, FST_RANGE_PARTITIONER, FST_FUNCTION_PARTITIONER };
FST_API enum fst_partitioner fst_rdd_partitioner(const fst_rdd *rdd);
FST_API bool fst_rdd_same_partitioner(const fst_rdd *a, const fst_rdd *b);

FST_END_DECLS
