/*
 * The block store: partitions of persisted RDDs, in memory or on disk according to their storage level.
 *
 * A block is written while its partition is computed: the pipeline passes each batch on and also appends it to the
 * writer, so giving a block up loses no rows.
 *
 *      r = block_store_acquire(store, &asker, id, level, type, &block, &writer);
 *      0                       read: block_reader_init(&reader, block), …, block_release(block)
 *      FST_BLOCK_E_COMPUTE     compute, block_writer_append for each batch, block_writer_commit or _abort
 *      FST_BLOCK_E_BYPASS      compute, and do not cache: this task is writing that very block already, or may not wait
 *
 * A task waits for a block that another task is writing, as with Spark's BlockInfoManager. If the writer gives up, one
 * of the waiting tasks computes the block. Waits cannot form a cycle, because a partition is computed only from RDDs
 * with smaller ids. But the writer may wait for execution memory, until it has its minimum share; so a task that holds
 * execution memory does not wait for a writer, or each could wait for the other.
 *
 * Pages of blocks are storage memory, acquired one by one. If memory is refused, the least recently used blocks of
 * *other* RDDs without readers are evicted: to disk with MEMORY_AND_DISK, removed with MEMORY_ONLY. If that is not
 * enough, a MEMORY_ONLY block is given up and a MEMORY_AND_DISK block continues on disk. Execution takes storage memory
 * beyond spark.memory.storageFraction in the same way.
 *
 * Threads: functions of the store from any thread. A writer or reader belongs to the task's thread. Disk is written
 * without locks held.
 *
 * Serialized levels keep pages compressed if the store has a codec: as frames, which go to disk unchanged.
 * FST_STORAGE_OFF_HEAP blocks use the memory of a separate manager. Without one they are on disk.
 */
#pragma once

#include "store/page_stream.h"
#include "store/spill.h"

#include <firesteel/rdd.h>

struct block_store;
struct block;
struct block_writer;

#define FST_BLOCK_E_COMPUTE 1
#define FST_BLOCK_E_BYPASS 2
#define FST_BLOCK_E_GIVEN_UP 3

struct block_id {
        int rdd, partition;
};

struct block_store_options {
        struct memory_manager *memory;   /* the store becomes its evictor */
        struct memory_manager *off_heap; /* NULL: none. May be the same manager */
        struct disk_dirs *dirs;
        enum codec_kind codec; /* for blocks on disk and serialized blocks in memory */
        int level;             /* for zstd */
};

/* Status of a block after it was added, moved or removed. */
struct block_status {
        struct block_id id;
        enum fst_storage_level level; /* FST_STORAGE_NONE: it was removed */
        uint64_t rows;
        size_t memory_bytes;
        uint64_t disk_bytes;
};
typedef void (*block_observer_fn)(void *owner, const struct block_status *status);

struct block_store *block_store_new(const struct block_store_options *options);

/*
 * Removes all blocks, which must have no readers and writers. The manager must have no running task. NULL is allowed.
 */
void block_store_free(struct block_store *store);

/*
 * The evictor of options.memory (a memory_evict_fn; @store is the store). Public, so that an owner with more to evict
 * than blocks can install its own evictor and call this one.
 */
size_t block_store_evict(void *store, size_t want);

/* Sets the observer, which is called on the thread that made a change, without locks. Call it before the first task. */
void block_store_set_observer(struct block_store *store, block_observer_fn observe, void *owner);

size_t block_store_memory_used(struct block_store *store); /* for tests */
uint64_t block_store_disk_used(struct block_store *store); /* for tests */

/* True if the block is complete and would be found. */
bool block_store_contains(struct block_store *store, struct block_id id);

/* Gets the block's status. Returns false if there is no block. */
bool block_store_status(struct block_store *store, struct block_id id, struct block_status *status);

/* Lists all complete blocks in an array of *@n that the caller frees. */
struct block_id *block_store_list(struct block_store *store, size_t *n);

struct block_asker {
        const void *task;           /* any pointer that identifies the task */
        bool holds_memory;          /* the task holds execution memory, so it must not wait for another task */
        const int *stopped;         /* atomic; not 0 ends the wait. NULL: never */
        struct memory_task *memory; /* rests during the wait, so that other tasks do not wait for its memory. NULL: no
                                       task memory */
};

/*
 * Finds or starts a block; see above. May wait for another task. Returns -ECANCELED if the asking task is killed
 * meanwhile. @level must not be FST_STORAGE_NONE. An existing block changes to it as block_is_wanted_at does.
 */
int block_store_acquire(struct block_store *store, const struct block_asker *asker, struct block_id id,
                        enum fst_storage_level level, fst_type type, struct block **block,
                        struct block_writer **writer);

/* Returns a reader's hold on a complete block, or NULL: for serving other processes. Release it with block_release. */
struct block *block_store_find(struct block_store *store, struct block_id id);
void block_release(struct block *block);

/*
 * Its RDD now has @level: if that uses disk, the block goes to disk when its memory is needed. The caller holds the
 * block.
 */
void block_is_wanted_at(struct block *block, enum fst_storage_level level);

/* Returns the type of its rows. */
fst_type block_type(const struct block *block);

/* Unpersists an RDD: removes its blocks, those in use at the end of their use. Returns their number. */
size_t block_store_remove_rdd(struct block_store *store, int rdd);
bool block_store_remove(struct block_store *store, struct block_id id);

/*
 * Appends all rows of @batch. Returns 0; FST_BLOCK_E_GIVEN_UP once if a MEMORY_ONLY block has no room (its pages are
 * freed, and further appends return 0 without effect); negative on a disk error: the caller aborts the writer and may
 * continue without the cache.
 */
int block_writer_append(struct block_writer *writer, const fst_batch *batch, struct fst_error *error);

/*
 * Completes the block for readers. Frees the writer in any case. Returns 0; FST_BLOCK_E_GIVEN_UP if there is no block
 * after all; negative on a disk error, also without a block.
 */
int block_writer_commit(struct block_writer *writer, struct fst_error *error);

/* Drops the block, because the computation failed or stopped early. NULL is allowed. */
void block_writer_abort(struct block_writer *writer);

/* Reads a held block as batches, each valid until the next call. A block may have several readers. */
struct block_reader {
        struct block *block;
        struct page_cursor cursor;
        const struct page *page;     /* in memory, or `loaded` */
        struct page *loaded;         /* read from disk, or decompressed; one page, not accounted */
        struct spill_reader disk;    /* for a block on disk */
        struct packed_reader packed; /* for a packed block */
        struct codec codec;
        bool from_disk, started;
};
/* Returns negative if its file cannot be opened: the block is then removed, like a damaged one. */
int block_reader_init(struct block_reader *reader, struct block *block, struct fst_error *error);
void block_reader_deinit(struct block_reader *reader);

/*
 * Gets the next batch. @batch->rows is 0 at the end. Returns -EBADMSG for a damaged block on disk, which is removed
 * after its last reader, so that the next attempt computes it again; other negatives of reading.
 */
int block_reader_next(struct block_reader *reader, fst_batch *batch, struct fst_error *error);

/* Gets the next page, valid until the next call; *@page is NULL at the end. Errors as above. */
int block_reader_next_page(struct block_reader *reader, const struct page **page, struct fst_error *error);

/*
 * Returns a packed block's pages, for sending its frames unchanged; NULL if the block is not packed or not in memory.
 * They stay while the block is held. To decompress frames of another store of the application, use the codec of
 * block_store_codec.
 */
const struct page *block_frames(const struct block *block);
void block_store_codec(const struct block_store *store, struct codec *codec);
