/*
 * Bringing things from where they are: "file:/x", "/x", "http://…", "https://…", "ftp://…", whole and checked or not
 * at all. A fetcher is used by one thread at a time; its connections are kept.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdbool.h>

struct fst_error;

/* A name and password for a host, and the realm that it names (NULL: any). */
struct credential {
        const char *host, *user_password;
        struct credential *next;
};

/* Hosts that could not be reached: each is waited for once. Fetchers of several threads may share it. */
struct silent_hosts {
        pthread_mutex_t lock;
        VEC(char *) hosts; /* "http://host:port" */
};

#define SILENT_HOSTS_INIT ((struct silent_hosts){.lock = PTHREAD_MUTEX_INITIALIZER})
void silent_hosts_deinit(struct silent_hosts *s);

struct fetcher {
        struct http_client *client; /* made when first needed */
        const struct credential *credentials;
        struct silent_hosts *silent; /* borrowed; NULL: hosts are asked again and again */
};

#define FETCH_MAX_TEXT (32u << 20)

void fetcher_deinit(struct fetcher *f);

/*
 * The content of a small file. -ENOENT: it is not there (for HTTP: any other answer than 200). Other negatives with
 * @error when that cannot be known: as http_perform, and -EHOSTDOWN for a host that is in `silent` already. @text is
 * filled only on 0.
 */
int fetch_text(struct fetcher *f, const char *location, struct buf *text, struct fst_error *error);

/* Whether it is there: 0, or what fetch_text answers. Nothing of a large file is read. */
int fetch_exists(struct fetcher *f, const char *location, struct fst_error *error);

/*
 * A file into @path, whose folder is made. It appears there only when it is whole, on the disk and, unless @checksums
 * is NULL, has the checksum that lies beside it: the first of these ("sha1,md5") that is there decides; with none of
 * them .sha256 is looked for; none at all is accepted, as Ivy does, but not one that cannot be read: whether the file
 * is whole is then not known. "none" or "" are asked for nothing. -ENOENT as fetch_text; -EBADMSG with Ivy's sentence
 * for a wrong checksum. *@size is its length.
 */
int fetch_file(struct fetcher *f, const char *location, const char *path, const char *checksums, size_t *size,
               struct fst_error *error);

/* Write @len bytes to @path, in one step for those who read it, even if the machine stops; its folder is made. */
int fetch_store(const char *path, const void *data, size_t len, struct fst_error *error);

/* A name beside @path under which nobody else, in this process or another, writes it. The caller owns it. */
char *fetch_part_name(const char *path);

/* mkdir -p for the folder of @path. */
int fetch_make_folder(const char *path, struct fst_error *error);

/* The names in a folder (file: or an HTTP server's list with links), appended as owned strings; -ENOENT without. */
struct fetch_list {
        char **data;
        size_t len, cap;
};
void fetch_list_deinit(struct fetch_list *l);
int fetch_names(struct fetcher *f, const char *folder, struct fetch_list *names, struct fst_error *error);
