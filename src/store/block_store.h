/*
 * The block store: partitions of persisted RDDs, in memory or on disk by their storage level.
 *
 * A block is written while its partition is computed: the pipeline passes every batch on and appends it to the
 * writer as well (a tee), so that giving a block up loses nothing; the rows went their way already.
 *
 *      r = block_store_acquire(store, &asker, id, level, type, &block, &writer);
 *      0                       read: block_reader_init(&reader, block), …, block_release(block)
 *      FST_BLOCK_E_COMPUTE     compute, block_writer_append for each batch, block_writer_commit or _abort
 *      FST_BLOCK_E_BYPASS      compute, and do not cache: this task is writing that very block already, or may not wait
 *
 * A block that another task is writing is waited for, as Spark's BlockInfoManager does; if that task gives up, one of
 * the waiting computes. Waits for blocks cannot go in a circle, because a partition is computed only from RDDs with
 * smaller ids. But the writing task may wait for execution memory, until it has its least share; so a task that holds
 * such memory does not wait for a writer, or each could wait for the other.
 *
 * Pages of blocks are storage memory, acquired one by one. When memory is refused, the least recently used
 * blocks of *other* RDDs that nobody reads go: to disk with MEMORY_AND_DISK, away with MEMORY_ONLY. If that is
 * not enough, a MEMORY_ONLY block is given up and a MEMORY_AND_DISK block goes on on disk. Execution may take storage
 * memory beyond spark.memory.storageFraction the same way.
 *
 * Threads: all functions of the store from any thread; a writer or reader belongs to the task's thread. Disk is
 * written without locks held.
 *
 * Serialized levels keep pages compressed, if the store has a codec: as the frames that they would be on disk, which is
 * also how they go there. FST_STORAGE_OFF_HEAP is memory of a manager of its own; without one, it is on disk.
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
        struct memory_manager *off_heap; /* likewise; NULL: there is none. May be the same */
        struct disk_dirs *dirs;
        enum codec_kind codec; /* of blocks on disk, and of serialized ones in memory */
        int level;             /* zstd's */
};

/* What is said of a block when it came, moved or went. */
struct block_status {
        struct block_id id;
        enum fst_storage_level level; /* FST_STORAGE_NONE: it is gone */
        uint64_t rows;
        size_t memory_bytes;
        uint64_t disk_bytes;
};
typedef void (*block_observer_fn)(void *owner, const struct block_status *status);

struct block_store *block_store_new(const struct block_store_options *options);

/* All blocks go, unread and unwritten by then. The manager must have no running task. NULL is allowed. */
void block_store_free(struct block_store *store);

/*
 * What the store does as the evictor of options.memory (a memory_evict_fn; @store is the store): for an owner that has
 * more to evict than blocks and puts a function of its own in this place.
 */
size_t block_store_evict(void *store, size_t want);

/* Who hears of changes: called from the thread that made the change, without locks. Set before the first task. */
void block_store_set_observer(struct block_store *store, block_observer_fn observe, void *owner);

size_t block_store_memory_used(struct block_store *store);
uint64_t block_store_disk_used(struct block_store *store);

/* True if the block is complete and would be found. */
bool block_store_contains(struct block_store *store, struct block_id id);

/* The block's status; false if there is none. */
bool block_store_status(struct block_store *store, struct block_id id, struct block_status *status);

/* All blocks that would be found now: an array that the caller frees, and how many. */
struct block_id *block_store_list(struct block_store *store, size_t *n);

struct block_asker {
        const void *task;           /* any pointer that is the task's alone */
        bool holds_memory;          /* execution memory is reserved for it: it must not wait for another task */
        const int *stopped;         /* atomic; not 0 ends the waiting. NULL: nobody stops it */
        struct memory_task *memory; /* rests while it waits, so that nobody waits for its memory. NULL: it has none */
};

/*
 * Find or start a block; see above. May wait for another task: -ECANCELED if the asking one was told to stop
 * meanwhile. @level is not FST_STORAGE_NONE; a block that is there is wanted at it.
 */
int block_store_acquire(struct block_store *store, const struct block_asker *asker, struct block_id id,
                        enum fst_storage_level level, fst_type type, struct block **block,
                        struct block_writer **writer);

/* A reader's hold on a block that is complete, or NULL: for serving others. Released with block_release. */
struct block *block_store_find(struct block_store *store, struct block_id id);
void block_release(struct block *block);

/*
 * Its RDD has @level by now: if that uses disk, so does the block from now on, when its memory is needed. For who holds
 * it.
 */
void block_is_wanted_at(struct block *block, enum fst_storage_level level);

/* The type of its rows. */
fst_type block_type(const struct block *block);

/* Unpersist: remove the blocks of an RDD; those being read or written go when that ends. Returns how many. */
size_t block_store_remove_rdd(struct block_store *store, int rdd);
bool block_store_remove(struct block_store *store, struct block_id id);

/*
 * Append all rows of @batch. 0; FST_BLOCK_E_GIVEN_UP once when a MEMORY_ONLY block has no room (its pages are free
 * again; further appends do nothing and return 0); negative when the disk fails: abort the writer, and cache or fail as
 * the caller likes.
 */
int block_writer_append(struct block_writer *writer, const fst_batch *batch, struct fst_error *error);

/*
 * The partition is complete: readers may come. Frees the writer in any case. 0; FST_BLOCK_E_GIVEN_UP if there is no
 * block after all; negative when the disk fails, and there is none either.
 */
int block_writer_commit(struct block_writer *writer, struct fst_error *error);

/* The computation failed or stopped early: forget what was written. NULL is allowed. */
void block_writer_abort(struct block_writer *writer);

/* Reading a held block as batches, each valid until the next call. Several readers of one block at a time. */
struct block_reader {
        struct block *block;
        struct page_cursor cursor;
        const struct page *page;     /* in memory, or `loaded` */
        struct page *loaded;         /* from disk, or unpacked; one page that is not accounted */
        struct spill_reader disk;    /* if the block is there */
        struct packed_reader packed; /* if it is that */
        struct codec codec;
        bool from_disk, started;
};
/* Negative if its file cannot be opened: then it is removed, like a damaged one. */
int block_reader_init(struct block_reader *reader, struct block *block, struct fst_error *error);
void block_reader_deinit(struct block_reader *reader);

/*
 * The next batch; @batch->rows is 0 at the end. -EBADMSG for a damaged block on disk, which is removed once nobody
 * reads it, so that the next attempt computes it again; other negatives of reading.
 */
int block_reader_next(struct block_reader *reader, fst_batch *batch, struct fst_error *error);

/* Page by page instead, each valid until the next call: *@page is NULL at the end. Errors as above. */
int block_reader_next_page(struct block_reader *reader, const struct page **page, struct fst_error *error);

/*
 * A packed block's pages, for who passes its frames on as they are: NULL for a block that is not, or not in memory.
 * They stay as long as the block is held. Frames of other stores of the application are unpacked with the codec that
 * block_store_codec makes.
 */
const struct page *block_frames(const struct block *block);
void block_store_codec(const struct block_store *store, struct codec *codec);
