/*
 * Files by the sha-256 of their bytes, fetched once for each host: executors of an application on one host share a
 * directory. A file there is whole: it is fetched under another name, checked, and renamed. Who fetches holds a lock on
 * a file beside it (`flock`, so that it is free when the holder dies); others wait for that.
 *
 * The directory goes with the last process that uses it.
 *
 * Threads: all functions from any.
 */
#pragma once

#include <stdint.h>

struct block_location;
struct crypto_ops;
struct file_cache;
struct fst_error;
struct transfer_client;

#define FILE_HASH_SIZE 32

/* Where executors of the application @app_id have their cache: in the first of @local_dirs, a comma list. The caller's. */
char *file_cache_dir(const char *local_dirs, const char *app_id);

/* Remove the directory if nobody uses it any more: its last user may have been killed. */
void file_cache_sweep(const char *dir);

/*
 * Use (and make) the directory @dir, for this user alone. @crypto has sha256_new, _add and _end, @client fetches from
 * @driver; all are borrowed or copied. Negative with @error when it cannot be made, or is another user's.
 */
int file_cache_new(const char *dir, const struct crypto_ops *crypto, struct transfer_client *client,
                   const struct block_location *driver, struct file_cache **cache, struct fst_error *error);

/* What file_cache_free does for others, while threads of this process may still be in the cache: the process ends. */
void file_cache_leave(struct file_cache *cache);

/* NULL is allowed. */
void file_cache_free(struct file_cache *cache);

/*
 * The path of the file with that hash, of @size bytes, fetched if it is not here: to be freed by the caller. A file is
 * linked or copied out of the cache, never changed there. Waits; @stopped as everywhere. Negative with @error: -EBADMSG
 * when what the driver sends has another hash; -ECANCELED; and of fetching and writing.
 */
int file_cache_get(struct file_cache *cache, const uint8_t hash[static FILE_HASH_SIZE], uint64_t size,
                   const int *stopped, char **path, struct fst_error *error);

/* Lower-case hexadecimal digits of a hash. */
void file_hash_format(const uint8_t hash[static FILE_HASH_SIZE], char out[static 2 * FILE_HASH_SIZE + 1]);
