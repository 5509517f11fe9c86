/*
 * A cache of files by SHA-256, shared by the executors of an application on one host, so that each host fetches a file
 * once. A file is fetched under a temporary name, checked, and renamed, so files in the cache are complete. The fetcher
 * holds a lock (`flock`, released when its holder dies) on a file beside it. Others wait.
 *
 * The last process that uses the directory removes it.
 *
 * Threads: any, for all functions.
 */
#pragma once

#include <stdint.h>

struct block_location;
struct sha256_ops;
struct file_cache;
struct fst_error;
struct transfer_client;

#define FILE_HASH_SIZE 32

/*
 * Returns the cache directory of the application @app_id in the first of @local_dirs, a comma list. The caller frees
 * it.
 */
char *file_cache_dir(const char *local_dirs, const char *app_id);

/* Removes an unused directory whose last user was killed. */
void file_cache_sweep(const char *dir);

/*
 * Opens or creates the directory @dir with access for this user only. @crypto needs sha256_new, _add and _end. @client
 * fetches from @driver. All are borrowed or copied. Returns negative with @error if @dir cannot be created or belongs
 * to another user.
 */
int file_cache_new(const char *dir, const struct sha256_ops *sha256, struct transfer_client *client,
                   const struct block_location *driver, struct file_cache **cache, struct fst_error *error);

/* From now on, files come from this process. Any thread. */
void file_cache_set_driver(struct file_cache *cache, const struct block_location *driver);

/*
 * Leaves the cache as file_cache_free does, but frees nothing: for the end of a process whose threads may still use the
 * cache.
 */
void file_cache_leave(struct file_cache *cache);

/* NULL is allowed. */
void file_cache_free(struct file_cache *cache);

/*
 * Returns the path of the file with @hash and @size bytes, fetching it if needed. The caller frees it. The caller may
 * link or copy the file but must not change it. Blocks; ends when @stopped is set. Returns negative with @error:
 * -EBADMSG if the driver sent other bytes, -ECANCELED, or an error of fetching or writing.
 */
int file_cache_get(struct file_cache *cache, const uint8_t hash[static FILE_HASH_SIZE], uint64_t size,
                   const int *stopped, char **path, struct fst_error *error);

/* Formats a hash as lower-case hexadecimal digits. */
void file_hash_format(const uint8_t hash[static FILE_HASH_SIZE], char out[static 2 * FILE_HASH_SIZE + 1]);
