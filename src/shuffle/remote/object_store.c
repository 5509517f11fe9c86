/*
 * See object_store.h.
 *
 * An index takes 8 bytes for each partition of each object. It is read once by each executor, from the end of the
 * object with one request if it is small. Unused ones are kept up to MAX_UNUSED bytes. A small object is read and kept
 * whole: many small map outputs would otherwise cost a request for each object and reduce task.
 */
#include "shuffle/remote/object_store.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fs/file_system.h"

#include <string.h>

#define LOG "ShuffleStore"
#define MAX_UNUSED ((size_t)32 << 20)
#define SMALL ((size_t)256 << 10)    /* maximum size of an object that is kept whole */
#define MAX_WHOLE ((size_t)32 << 20) /* bytes of all of these */
#define TAIL ((size_t)64 << 10)      /* bytes of the first read of an object whose index is unknown */
#define LOOK_NS (100 * NS_PER_MS)    /* how often a waiting task looks whether it was stopped */

void object_store_init(struct object_store *s, const struct file_system *fs, char *directory, struct file_key *key,
                       int threads)
{
        *s = (struct object_store){.fs = fs, .directory = directory, .key = key};
        s->pool = object_pool_new(threads);
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->loaded, NULL);
}

static uint64_t object_entry_hash(int shuffle, int32_t writer, uint32_t place)
{
        uint64_t both = (uint64_t)(uint32_t)writer << 32 | place;
        return object_hash_number(both ^ object_hash_number((uint64_t)shuffle));
}

static bool object_entry_is(const void *object, const void *key)
{
        const struct object_entry *a = object, *b = key;
        return a->shuffle == b->shuffle && a->writer == b->writer && a->place == b->place;
}

/* With the lock. */
static void object_entry_remove(struct object_store *s, struct object_entry *e)
{
        list_remove(&s->unused, e);
        s->unused_bytes -= e->index ? object_index_memory(e->index) : 0;
        s->whole_bytes -= e->whole ? e->index->size : 0;
        object_table_remove(&s->entries, object_entry_hash(e->shuffle, e->writer, e->place), e);
        object_index_free(e->index);
        error_deinit(&e->error);
        free(e->whole);
        free(e->path);
        free(e);
}

void object_store_deinit(struct object_store *s)
{
        object_pool_free(s->pool);
        while (s->unused.first)
                object_entry_remove(s, s->unused.first);
        object_table_deinit(&s->entries);
        pthread_cond_destroy(&s->loaded);
        pthread_mutex_destroy(&s->lock);
        file_key_free(s->key);
        free(s->directory);
}

char *object_store_path(const struct object_store *s, int shuffle, int32_t writer, uint32_t place)
{
        return mem_printf("%s/shuffle-%d/%d-%06u", s->directory, shuffle, writer, place);
}

bool object_status_is_final(int status)
{
        switch (status) {
        case -ENOENT:
        case -EACCES:
        case -EPERM:
        case -EROFS:
        case -ENOSPC:
        case -EDQUOT:
        case -EINVAL:
        case -ENOTDIR:
        case -EISDIR:
        case -ENOMEM:
        case -ECANCELED:
        case -EPROTONOSUPPORT:
                return true;
        }
        return false;
}

/* ------------------------------------------------------------------------------------------------------ requests */

static bool object_store_is_stopped(const int *stopped)
{
        return stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED);
}

/* Waits before a request is repeated. Returns false if it is not to be repeated. */
static bool object_store_wait(struct object_store *s, const int *stopped)
{
        const int64_t slice = 100000000;
        for (int64_t left = s->retry_ns; left > 0 && !object_store_is_stopped(stopped); left -= slice)
                if (!object_pool_sleep(s->pool, left < slice ? left : slice))
                        return false;
        return !object_store_is_stopped(stopped);
}

static int object_store_read_once(struct object_store *s, const char *path, uint64_t size, uint64_t offset, void *data,
                                  size_t n, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = s->fs->open_sized ? s->fs->open_sized(s->fs, path, size, &file, error)
                                  : s->fs->open(s->fs, path, &file, error);
        if (r)
                return r;
        file.wanted = offset + n;
        size_t got = 0;
        while (got < n && r == 0) {
                ssize_t part = s->fs->read_at(&file, (char *)data + got, n - got, offset + got, error);
                if (part < 0)
                        r = (int)part;
                else if (part == 0)
                        r = error_set(error, -EBADMSG, "%s ends at %llu of %llu bytes", path,
                                      (unsigned long long)(offset + got), (unsigned long long)size);
                got += part > 0 ? (size_t)part : 0;
        }
        s->fs->discard(&file);
        return r;
}

int object_store_read(struct object_store *s, const char *path, uint64_t size, uint64_t offset, void *data, size_t n,
                      const int *stopped, struct fst_error *error)
{
        for (int tries = 0;; tries++) {
                int r = object_store_read_once(s, path, size, offset, data, n, error);
                if (r == 0 || object_status_is_final(r) || r == -EBADMSG || tries >= s->retries)
                        return r;
                log_warn(LOG, "reading %s again: %s", path, error ? error_message(error) : strerror(-r));
                if (!object_store_wait(s, stopped))
                        return r;
                error_deinit(error);
        }
}

/* ------------------------------------------------------------------------------------------------------ indexes */

static int object_entry_stat(struct object_entry *e, uint64_t *size, struct fst_error *error)
{
        struct object_store *s = e->store;
        for (int tries = 0;; tries++) {
                struct open_file file = OPEN_FILE_INIT;
                int r = s->fs->open(s->fs, e->path, &file, error);
                if (r == 0) {
                        *size = file.size;
                        s->fs->discard(&file);
                        return 0;
                }
                if (object_status_is_final(r) || tries >= s->retries || !object_store_wait(s, NULL))
                        return r;
                error_deinit(error);
        }
}

/* Reads the index from the end of the object; *@whole is the object if it is small, else NULL. */
static int object_entry_read(struct object_entry *e, struct object_index **index, unsigned char **whole,
                             struct fst_error *error)
{
        struct object_store *s = e->store;
        struct object_trailer trailer;
        uint64_t size = 0;
        int r = object_entry_stat(e, &size, error);
        if (r)
                return r;
        if (size < OBJECT_HEADER + OBJECT_TRAILER)
                return error_set(error, -EBADMSG, "%s has only %llu bytes", e->path, (unsigned long long)size);
        size_t tail = size <= SMALL ? (size_t)size : TAIL;
        _cleanup_free_ unsigned char *data = mem_alloc(tail), *more = NULL;
        r = object_store_read(s, e->path, size, size - tail, data, tail, NULL, error);
        if (r == 0)
                r = object_trailer_read(data + tail - OBJECT_TRAILER, size, &trailer, error);
        if (r)
                return error_wrap(error, r, "%s", e->path);
        size_t n = trailer.index_size;
        uint64_t at = size - OBJECT_TRAILER - n;
        unsigned char *bytes = data + tail - MIN(n + OBJECT_TRAILER, tail);
        if (n + OBJECT_TRAILER > tail) {
                bytes = more = mem_try(n);
                r = more ? object_store_read(s, e->path, size, at, more, n, NULL, error)
                         : error_set(error, -ENOMEM, "no memory for its index of %zu bytes", n);
        }
        if (r == 0 && trailer.encrypted)
                r = s->key ? file_crypt(s->key, trailer.iv, at, bytes, bytes, n, error)
                           : error_set(error, -EBADMSG,
                                       "it is encrypted, and spark.io.encryption.enabled is not set here");
        if (r == 0 && trailer.encrypted && tail == size)
                r = file_crypt(s->key, trailer.iv, OBJECT_HEADER, data + OBJECT_HEADER, data + OBJECT_HEADER,
                               (size_t)at - OBJECT_HEADER, error);
        if (r == 0)
                r = object_index_read(&trailer, size, bytes, index, error);
        *whole = r == 0 && tail == size ? steal(data) : NULL;
        return r ? error_wrap(error, r, "%s", e->path) : 0;
}

/* On a thread of the pool. A damaged index is read once more. */
static void object_entry_load(struct object_job *job)
{
        struct object_entry *e = container_of(job, struct object_entry, job);
        struct object_store *s = e->store;
        struct fst_error error = FST_ERROR_INIT;
        struct object_index *index = NULL;
        unsigned char *whole = NULL;
        int r = object_entry_read(e, &index, &whole, &error);
        if (r == -EBADMSG) {
                log_warn(LOG, "reading %s again: %s", e->path, error_message(&error));
                error_deinit(&error);
                r = object_entry_read(e, &index, &whole, &error);
        }
        pthread_mutex_lock(&s->lock);
        e->loading = false;
        e->loaded = r == 0;
        e->index = index;
        if (whole && s->whole_bytes + index->size <= MAX_WHOLE) {
                e->whole = steal(whole);
                s->whole_bytes += index->size;
        }
        e->status = r;
        error_deinit(&e->error);
        e->error = error;
        pthread_cond_broadcast(&s->loaded);
        pthread_mutex_unlock(&s->lock);
        free(whole);
        object_entry_put(e);
}

struct object_entry *object_store_get(struct object_store *s, int shuffle, int32_t writer, uint32_t place)
{
        struct object_entry key = {.shuffle = shuffle, .writer = writer, .place = place};
        uint64_t hash = object_entry_hash(shuffle, writer, place);
        pthread_mutex_lock(&s->lock);
        struct object_entry *e = object_table_find(&s->entries, hash, object_entry_is, &key);
        if (!e) {
                e = new0(struct object_entry);
                *e = key;
                e->store = s;
                e->path = object_store_path(s, shuffle, writer, place);
                e->job.run = object_entry_load;
                object_table_put(&s->entries, hash, e);
        } else if (e->refs == 0) {
                list_remove(&s->unused, e);
                s->unused_bytes -= e->index ? object_index_memory(e->index) : 0;
        }
        e->refs++;
        bool load = !e->loaded && !e->loading;
        if (load) {
                e->loading = true;
                e->refs++; /* the job's */
        }
        pthread_mutex_unlock(&s->lock);
        if (load)
                object_pool_submit(s->pool, &e->job);
        return e;
}

void object_store_await(struct object_store *s)
{
        struct timespec until = timespec_of_ns(now_ns() + LOOK_NS);
        pthread_cond_clockwait(&s->loaded, &s->lock, CLOCK_MONOTONIC, &until);
}

int object_entry_wait(struct object_entry *e, const int *stopped, struct fst_error *error)
{
        struct object_store *s = e->store;
        pthread_mutex_lock(&s->lock);
        while (e->loading && !object_store_is_stopped(stopped)) {
                object_store_await(s);
        }
        int r = e->loading ? -ECANCELED : e->loaded ? 0 : error_set(error, e->status, "%s", error_message(&e->error));
        pthread_mutex_unlock(&s->lock);
        return r;
}

struct object_entry *object_entry_ref(struct object_entry *e)
{
        pthread_mutex_lock(&e->store->lock);
        e->refs++;
        pthread_mutex_unlock(&e->store->lock);
        return e;
}

void object_entry_put(struct object_entry *e)
{
        if (!e)
                return;
        struct object_store *s = e->store;
        pthread_mutex_lock(&s->lock);
        if (--e->refs == 0) {
                list_append(&s->unused, e);
                s->unused_bytes += e->index ? object_index_memory(e->index) : 0;
                if (!e->loaded)
                        object_entry_remove(s, e);
                while (s->unused_bytes > MAX_UNUSED)
                        object_entry_remove(s, s->unused.first);
        }
        pthread_mutex_unlock(&s->lock);
}

void object_store_forget_shuffle(struct object_store *s, int shuffle)
{
        pthread_mutex_lock(&s->lock);
        for (struct object_entry *e = s->unused.first, *next; e; e = next) {
                next = e->next;
                if (e->shuffle == shuffle)
                        object_entry_remove(s, e);
        }
        pthread_mutex_unlock(&s->lock);
}
