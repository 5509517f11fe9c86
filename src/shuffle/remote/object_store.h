/*
 * The objects of one application in a store, as an executor reads them: paths, requests with retries, and a cache of
 * indexes that all its tasks share.
 *
 *      DIRECTORY/shuffle-3/12-000004       the fourth object that the writer 12 (shuffle/remote_shuffle.h) wrote for
 * any shuffle, with outputs of shuffle 3
 */
#pragma once

#include "base/error.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "shuffle/remote/object_file.h"
#include "shuffle/remote/object_pool.h"

#include <pthread.h>

struct file_system;

struct object_store {
        const struct file_system *fs;
        char *directory;      /* of the application; owned */
        struct file_key *key; /* NULL: not encrypted; owned */
        int retries;          /* further attempts at a request: spark.shuffle.io.maxRetries */
        int64_t retry_ns;     /* the time between them: spark.shuffle.io.retryWait */
        struct object_pool *pool;
        pthread_mutex_t lock; /* protects the cache */
        pthread_cond_t loaded;
        struct object_table entries;
        LIST(struct object_entry) unused; /* entries without references, the one that was used last at the end */
        size_t unused_bytes;              /* of their indexes */
        size_t whole_bytes;               /* of all objects that are kept whole */
};

/* @directory and @key are stolen. */
void object_store_init(struct object_store *store, const struct file_system *fs, char *directory, struct file_key *key,
                       int threads);

/* No entry is referenced any more. */
void object_store_deinit(struct object_store *store);

/* Returns the path of an object. The caller owns it. */
char *object_store_path(const struct object_store *store, int shuffle, int32_t writer, uint32_t place);

/* True if a repeated request cannot succeed: permissions, a missing or full store, an invalid path. */
bool object_status_is_final(int status);

/*
 * Reads @n bytes from @offset of an object of @size bytes, all or nothing. Blocks. Repeats a failed request, unless
 * *@stopped (may be NULL) becomes nonzero. On a thread of the pool or a task's.
 */
int object_store_read(struct object_store *store, const char *path, uint64_t size, uint64_t offset, void *data,
                      size_t n, const int *stopped, struct fst_error *error);

/* An object in the cache. */
struct object_entry {
        int shuffle;
        int32_t writer;
        uint32_t place;
        char *path;
        struct object_index *index; /* constant once the entry is loaded, like `whole` */
        unsigned char *whole;       /* a small object that was read with its index, decrypted; NULL: it is not kept */
        int damaged;                /* atomic: a block of `whole` is damaged, so that it is not used any more */

        /* under the store's lock */
        int refs;
        bool loading, loaded;
        int status; /* of the last attempt to load it */
        struct fst_error error;
        struct object_entry *prev, *next; /* in the list of unused ones */
        struct object_job job;
        struct object_store *store;
};

/*
 * Returns a reference to an entry, and begins to load its index on a thread of the pool if it is not loaded. Any
 * thread. Never NULL.
 */
struct object_entry *object_store_get(struct object_store *store, int shuffle, int32_t writer, uint32_t place);

/*
 * Waits until the entry is loaded. Returns 0; -ENOENT if there is no such object; -EBADMSG if its index is damaged,
 * also when read again; -ECANCELED once *@stopped is nonzero; or another negative with @error. A later get tries again.
 */
int object_entry_wait(struct object_entry *entry, const int *stopped, struct fst_error *error);

struct object_entry *object_entry_ref(struct object_entry *entry);
void object_entry_put(struct object_entry *entry); /* NULL is allowed */

/*
 * Waits until something is loaded, or for a tenth of a second, after which the caller looks whether it was stopped.
 * Under the store's lock.
 */
void object_store_await(struct object_store *store);

/* Forgets the unused entries of a shuffle. Any thread. */
void object_store_forget_shuffle(struct object_store *store, int shuffle);
