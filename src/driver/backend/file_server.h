/*
 * The files that the driver serves to executors, by the sha-256 of their bytes: the application, its modules, what
 * --files and --archives name.
 *
 *      file_server_add                         for each; AppConfig.files and later messages tell its name, hash and
 * size transfer_services.fetch_file            file_server_fetch_file, with the file server as owner
 *
 * Threads: all functions from any.
 */
#pragma once

#include "exec/app/file_cache.h"

struct Firesteel__FetchFile;
struct file_server;
struct transfer_stream;

/* @crypto is borrowed. Never NULL. */
struct file_server *file_server_new(const struct crypto_ops *crypto);

/* Nothing may be served any more. NULL is allowed. */
void file_server_free(struct file_server *server);

/*
 * Serve the file at @path, which must not change from now on; *@hash and *@size are what it is known by. The same file
 * twice is one. Negative with @error when it cannot be read.
 */
int file_server_add(struct file_server *server, const char *path, uint8_t hash[static FILE_HASH_SIZE], uint64_t *size,
                    struct fst_error *error);

/* As fetch_file of struct transfer_services. -ENOENT for what is not served. */
int file_server_fetch_file(void *server, const struct Firesteel__FetchFile *request, struct transfer_stream **stream,
                           struct fst_error *error);
