/*
 * The block store inside, for the files that it is made of: block_store.c (what there is), block_eviction.c (memory
 * that is needed for something else), block_writer.c, block_reader.c.
 */
#pragma once

#include "store/block_store.h"
#include "store/storage_level.h"

#include <pthread.h>

enum block_state { WRITING, IN_MEMORY, MOVING, ON_DISK };

struct block {
        struct block_store *store;
        struct block_id id;
        struct block *chain;         /* in the table */
        struct block *newer, *older; /* on the list of use, if on it */
        fst_type type;
        enum fst_storage_level level;
        enum block_state state;
        bool doomed, packed;
        unsigned readers;
        const void *task; /* who writes it */
        struct page *pages;
        struct spill *spill; /* NULL: in memory, or nothing in it */
        size_t memory;
        uint64_t rows, disk;
};

struct block_store {
        struct block_store_options options;
        pthread_mutex_t lock;
        pthread_cond_t changed; /* a block was completed, given up, removed or moved */
        struct block **table;
        size_t slots, count;
        struct block use[2]; /* heads of circular lists, by off_heap(): use[].newer is the least recently used */
        size_t memory;       /* of complete blocks */
        uint64_t disk;
        unsigned renamed;
        block_observer_fn observe;
        void *observer;
};

/* -------------------------------------------------------------------------------------------------- block_store.c */

/* Who accounts for it in memory; NULL: nobody, it cannot be there. */
struct memory_manager *block_memory_manager(const struct block *b);
bool block_off_heap(const struct block *b);

/* Off the list of least recent use, and to its end. Under the lock. */
void block_use_remove(struct block *b);
void block_use_now(struct block *b);

/* Count a complete block in. Under the lock. */
void block_count_in(struct block *b);

/* What to say of it now, if it is @there; and to the observer, without the lock. */
struct block_status block_status_of(const struct block *b, bool there);
void block_store_tell(struct block_store *s, struct block_status status);

/* Free a block that nobody can find or use any more. Without the lock. */
void block_free(struct block *b);

/* Take a block out of the store; true if it is to be freed now, by the caller. Under the lock. */
bool block_doom(struct block *b);

/* Remove a block, of which the caller holds the lock that is released here. True if it was complete. */
bool block_remove_unlock(struct block *b);

/* ------------------------------------------------------------------------------------------------ block_eviction.c */

/* Storage memory for a block, at the cost of others of other RDDs; false if there is none. Without the lock. */
bool block_acquire_storage(struct block *b, size_t size);

/* A file of the block's, or its writer's, @pages: in another directory if one fails. Without the lock. */
int block_write_pages(struct block *b, const struct page *pages, struct spill **spill, struct fst_error *error);

/* block_store_evict, of memory off the heap. */
size_t block_store_evict_off_heap(void *owner, size_t want);

/* -------------------------------------------------------------------------------------------------- block_writer.c */

/* Who writes a block that is in the table, WRITING. */
struct block_writer *block_writer_new(struct block *b);
