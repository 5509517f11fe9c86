/*
 * The cache of compiled applications: maps a C file, its headers, flags and compiler to a shared object.
 *
 *      apps/KEY.deps           the files that the last compilation of KEY read, with their hashes
 *      apps/OBJECT/name.so     the result; OBJECT hashes KEY and all files read
 *
 * KEY is the hash of the source, its name, the flags and the compiler. A lookup hashes the files of KEY.deps (or trusts
 * time and size if neither changed) and so computes OBJECT. Files are written under a temporary name and renamed, so
 * several processes may use the cache at once. Hashes are 128-bit XXH3: only this user can write to the directory, so
 * collisions happen by chance only.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

#define APP_CACHE_HASH 33 /* 32 hexadecimal digits and a NUL */

struct app_cache {
        char *folder; /* …/firesteel/apps */
};

/*
 * Opens the cache and creates its directory in $XDG_CACHE_HOME or ~/.cache, else in @local_dir (NULL: /tmp). The
 * directory must belong to this user, and no other user may have write access. Returns -errno with @error if none
 * qualifies.
 */
int app_cache_init(struct app_cache *cache, const char *local_dir, struct fst_error *error);
void app_cache_deinit(struct app_cache *cache);

/*
 * Looks up the shared object for @key and its current dependencies. *@out is owned by the caller, or NULL if the object
 * must be compiled. Both return 0. @name is "wordcount.so". Relative dependencies are relative to @source_dir.
 */
int app_cache_find(const struct app_cache *cache, const char *key, const char *name, const char *source_dir,
                   char **out);

/*
 * Moves @object (a file in cache->folder) into the cache as the result for @key. @rule is the output of cc -MMD, a
 * string. @started is the start time of the compiler in ns of the clock that stamps files. *@out is the object's final
 * path, owned by the caller. Returns -errno with @error.
 */
int app_cache_store(const struct app_cache *cache, const char *key, const char *name, const char *source_dir,
                    const char *object, const char *rule, int64_t started, char **out, struct fst_error *error);

/* Hashes @len bytes to text. */
void app_cache_hash(const void *data, size_t len, char out[static APP_CACHE_HASH]);

/* Appends the content of a file to @out. Returns -errno; -EFBIG above 64 MiB. */
int app_cache_read(const char *path, struct buf *out);
