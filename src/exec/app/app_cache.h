/*
 * The cache of compiled applications: which shared object belongs to a C file, its headers, flags and compiler.
 *
 *      apps/KEY.deps           what the last compilation of KEY read, each file with its hash
 *      apps/OBJECT/name.so     the result; OBJECT is KEY with the hashes of all that was read
 *
 * KEY is the hash of the source, its name, the flags and the compiler. Whoever looks hashes what KEY.deps lists (or
 * trusts time and size where neither changed) and so knows OBJECT. Files appear by rename and are complete from then
 * on; several processes may use the cache at once. Hashes are XXH3 of 128 bits: the folder belongs to the user alone,
 * so that chance is the only adversary.
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
 * Open the cache, creating its folder: in $XDG_CACHE_HOME or ~/.cache, else in @local_dir (NULL: /tmp). Only a folder
 * that belongs to this user and that nobody else can write is used. -errno with @error when there is no such.
 */
int app_cache_init(struct app_cache *cache, const char *local_dir, struct fst_error *error);
void app_cache_deinit(struct app_cache *cache);

/*
 * The shared object for @key and what it depends on now, in *@out (owned by the caller), or 0 with *@out NULL when it
 * has to be made. @name is "wordcount.so"; @source_dir is what relative dependencies are relative to.
 */
int app_cache_find(const struct app_cache *cache, const char *key, const char *name, const char *source_dir,
                   char **out);

/*
 * Keep @object (a file in cache->folder, moved) as the result for @key, which read the files of @rule (what cc -MMD
 * wrote, a string); @started is when the compiler was started, in nanoseconds of the clock that stamps files. The
 * object's final path in *@out, owned by the caller. -errno with @error.
 */
int app_cache_store(const struct app_cache *cache, const char *key, const char *name, const char *source_dir,
                    const char *object, const char *rule, int64_t started, char **out, struct fst_error *error);

/* The hash of some bytes, as text. */
void app_cache_hash(const void *data, size_t len, char out[static APP_CACHE_HASH]);

/* Append a file's content; -errno. At most 64 MiB are taken, -EFBIG for more. */
int app_cache_read(const char *path, struct buf *out);
