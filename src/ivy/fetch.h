/*
 * Fetches files from "file:/x", "/x", "http://…", "https://…" and "ftp://…": complete and verified, or not at all. One
 * thread at a time uses a fetcher, which keeps its connections.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <pthread.h>

struct fst_error;

/* A name and password for a host, and its realm (NULL: any). */
struct credential {
        const char *host, *user_password;
        struct credential *next;
};

/* Unreachable hosts, so that each is waited for only once. Fetchers of several threads may share it. */
struct silent_hosts {
        pthread_mutex_t lock;
        VEC(char *) hosts; /* "http://host:port" */
};

#define SILENT_HOSTS_INIT ((struct silent_hosts){.lock = PTHREAD_MUTEX_INITIALIZER})
void silent_hosts_deinit(struct silent_hosts *s);

struct fetcher {
        struct http_client *client; /* created at first use */
        const struct credential *credentials;
        struct silent_hosts *silent; /* borrowed; NULL: retry hosts every time */
};

#define FETCH_MAX_TEXT (32u << 20)

void fetcher_deinit(struct fetcher *f);

/*
 * Reads a small file. Returns -ENOENT if it does not exist (for HTTP: any status but 200), other negatives with @error
 * if that is unknown: the errors of http_perform, and -EHOSTDOWN for a host that is in `silent` already. Fills @text
 * only on 0.
 */
int fetch_text(struct fetcher *f, const char *location, struct buf *text, struct fst_error *error);

/* Whether the file exists: returns as fetch_text. Does not read a large file. */
int fetch_exists(struct fetcher *f, const char *location, struct fst_error *error);

/*
 * Downloads a file to @path and creates its directory. The file appears there only when it is complete, synced and,
 * unless @checksums is NULL, verified against the checksum beside it. The first existing one of the list ("sha1,md5")
 * decides. Without any, .sha256 is tried. Like Ivy, accepts a file without checksums, but not one whose checksum cannot
 * be read. "none" and "" disable checksums. Returns -ENOENT as fetch_text, or -EBADMSG with Ivy's message for a wrong
 * checksum. *@size is the length.
 */
int fetch_file(struct fetcher *f, const char *location, const char *path, const char *checksums, size_t *size,
               struct fst_error *error);

/* Writes @len bytes to @path atomically, even across a power failure. Creates its directory. */
int fetch_store(const char *path, const void *data, size_t len, struct fst_error *error);

/* A name beside @path that no other writer in any process uses. Owned by the caller. */
char *fetch_part_name(const char *path);

/* mkdir -p for the directory of @path. */
int fetch_make_folder(const char *path, struct fst_error *error);

/*
 * Appends the names in a directory (file:, or an HTTP server's list of links) as owned strings. Returns -ENOENT if it
 * does not exist.
 */
struct fetch_list {
        char **data;
        size_t len, cap;
};
void fetch_list_deinit(struct fetch_list *l);
int fetch_names(struct fetcher *f, const char *folder, struct fetch_list *names, struct fst_error *error);
