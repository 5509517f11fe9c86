/*
 * A file system: what io/ needs from where data lives. Local files are one; others have the same few operations. Which
 * there are, and whose a path is, io/fs/file_systems.h knows.
 *
 * Paths are full paths (io/fs/path.h). Every operation blocks, may be called from any thread, and reports errors
 * with the path in the message. A file system holds no state that a caller must release.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fst_error;
struct file_system;

struct file_status {
        char *path; /* full; owned by whoever holds the status */
        uint64_t size;
        uint64_t block_size; /* of a file: what a split of it holds at most. 32 MiB for local files, as Spark sees them
                              */
        int64_t modified_ms; /* since 1970 */
        bool directory;
};

struct file_list {
        struct file_status *data;
        size_t len, cap;
};

/* A part of a file, and the hosts that have it: those that may read it best. */
struct block_place {
        uint64_t offset, length;
        char *hosts; /* names with a '\n' behind each; owned */
};

struct block_list {
        struct block_place *data;
        size_t len, cap;
};

void block_list_deinit(struct block_list *list);
void file_status_deinit(struct file_status *status);
void file_list_deinit(struct file_list *list);

/* A file open for reading at any position, or for writing at its end. Storage is the caller's. */
struct open_file {
        const struct file_system *fs; /* NULL when closed */
        char *path;                   /* owned by the caller of open/create, who keeps it until close */
        uint64_t size;                /* when it was opened for reading */
        uint64_t wanted;              /* reading: the reader will want the bytes up to here. 0: it cannot say */
        int fd;                       /* the local file system's */
        void *state;                  /* another file system's */
};
#define OPEN_FILE_INIT ((struct open_file){.fd = -1})

struct file_system {
        const char *scheme; /* "file" */

        /* 0; -ENOENT if there is nothing; another negative errno. @status is filled only on 0. */
        int (*stat)(const struct file_system *fs, const char *path, struct file_status *status,
                    struct fst_error *error);
        /* Append the entries of a directory to @list, sorted by the bytes of their names. */
        int (*list)(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error);
        /* Open for reading. @path must outlive the file. -EISDIR for a directory. */
        int (*open)(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error);
        /*
         * Up to @size bytes from @offset on: the number read, 0 at the end of the file, or negative. A file system to
         * which requests are dear reads ahead, beyond `wanted` of the file only a little.
         */
        ssize_t (*read_at)(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error);
        /* A new file, its directories too; an existing one is emptied (Hadoop's create with overwrite). */
        int (*create)(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error);
        /* Write all of @size bytes at the end. A file whose write failed is only good for close and remove. */
        int (*write)(struct open_file *file, const void *data, size_t size, struct fst_error *error);
        /* Close; for a written file an error here means that the data may not be there. Always closes. */
        int (*close)(struct open_file *file, struct fst_error *error);
        /* Close a file that nobody will want: what was written need not be there, and part of it may be. */
        void (*discard)(struct open_file *file);
        /* A directory with all of its parents; 0 if it is there already. */
        int (*mkdirs)(const struct file_system *fs, const char *path, struct fst_error *error);
        /*
         * Give a file or directory another name in the same file system, atomically. An existing file or empty
         * directory of that name is replaced; -ENOTEMPTY for a directory with content; -ENOENT without @from.
         */
        int (*rename)(const struct file_system *fs, const char *from, const char *to, struct fst_error *error);
        /* Remove a file, or a directory with all that is in it; 0 if there was nothing. Links are not followed. */
        int (*remove)(const struct file_system *fs, const char *path, struct fst_error *error);
        /*
         * Which hosts have the blocks of a file, appended to @list in order. NULL: no host is nearer than another.
         */
        int (*hosts)(const struct file_system *fs, const char *path, struct block_list *list, struct fst_error *error);
};
