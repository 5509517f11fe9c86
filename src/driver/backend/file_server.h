/*
 * Serves files to executors by SHA-256: the application, its modules, and the files of --files and --archives.
 *
 *      file_server_add               for each file; AppConfig.files and later messages carry its name, hash and size
 *      transfer_services.fetch_file  file_server_fetch_file, with the file server as owner
 *
 * Threads: any.
 */
#pragma once

#include "exec/app/file_cache.h"

struct Firesteel__FetchFile;
struct file_server;
struct transfer_stream;

/* Borrows @crypto. Never NULL. */
struct file_server *file_server_new(const struct sha256_ops *sha256);

/* No transfer may be running. NULL is allowed. */
void file_server_free(struct file_server *server);

/*
 * Serve the file at @path, which must not change any more. Sets *@hash and *@size. Adding a file twice serves it once.
 * Returns 0, or a negative status with @error if the file cannot be read.
 */
int file_server_add(struct file_server *server, const char *path, uint8_t hash[static FILE_HASH_SIZE], uint64_t *size,
                    struct fst_error *error);

/* As fetch_file of struct transfer_services. Returns -ENOENT for an unknown hash. */
int file_server_fetch_file(void *server, const struct Firesteel__FetchFile *request, struct transfer_stream **stream,
                           struct fst_error *error);
