/*
 * Shared by the files of the block store: block_store.c (table), block_eviction.c (freeing memory), block_writer.c,
 * block_reader.c.
 */
#pragma once

#include "store/block_store.h"
#include "store/storage_level.h"

#include <pthread.h>

enum block_state { WRITING, IN_MEMORY, MOVING, ON_DISK };

struct block {
        struct block_store *store;
        struct block_id id;
        struct block *chain;         /* next in the hash slot */
        struct block *newer, *older; /* on a list of recent use */
        struct block *next_victim;   /* of the thread that evicts it */
        fst_type type;
        enum fst_storage_level level;
        enum block_state state;
        bool doomed, packed;
        unsigned readers;
        const void *task; /* the task that writes it */
        struct page *pages;
        struct spill *spill; /* NULL: in memory, or empty */
        size_t memory;
        uint64_t rows, disk;
};

struct block_store {
        struct block_store_options options;
        pthread_mutex_t lock;
        pthread_cond_t changed; /* a block was completed, given up, removed or moved */
        struct block **table;
        size_t slots, count;
        struct block use[2]; /* heads of the circular lists of recent use, by off_heap(): use[].newer is the least
                                recently used */
        size_t memory;       /* bytes of complete blocks in memory */
        uint64_t disk;
        unsigned renamed;
        block_observer_fn observe;
        void *observer;
};

/* -------------------------------------------------------------------------------------------------- block_store.c */

/* Returns the manager of its memory; NULL: it cannot be in memory. */
struct memory_manager *block_memory_manager(const struct block *b);
bool block_off_heap(const struct block *b);

/* Remove a block from its list of recent use, or move it to the end. Lock held. */
void block_use_remove(struct block *b);
void block_use_now(struct block *b);

/* Adds a complete block to the counts. Lock held. */
void block_count_in(struct block *b);

/*
 * block_status_of returns the status for the observer (@there: the block exists). block_tell calls the observer,
 * without the lock.
 */
struct block_status block_status_of(const struct block *b, bool there);
void block_store_tell(struct block_store *s, struct block_status status);

/* Frees a block that is not in the table and has no users. Without the lock. */
void block_free(struct block *b);

/* Removes a block from the store. Returns true if the caller must free it now. Lock held. */
bool block_doom(struct block *b);

/* Removes a block and releases the lock, which the caller holds. Returns true if it was complete. */
bool block_remove_unlock(struct block *b);

/* ------------------------------------------------------------------------------------------------ block_eviction.c */

/*
 * Acquires storage memory for a block and evicts blocks of other RDDs if needed. Returns false if there is none.
 * Without the lock.
 */
bool block_acquire_storage(struct block *b, size_t size);

/* Writes @pages to a new file of the block or its writer. Tries another directory if one fails. Without the lock. */
int block_write_pages(struct block *b, const struct page *pages, struct spill **spill, struct fst_error *error);

/* Does the same as block_store_evict, for off-heap memory. */
size_t block_store_evict_off_heap(void *owner, size_t want);

/* -------------------------------------------------------------------------------------------------- block_writer.c */

/* Returns a writer for a block in the table that is WRITING. */
struct block_writer *block_writer_new(struct block *b);
