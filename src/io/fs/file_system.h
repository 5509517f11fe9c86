/*
 * A file system: the operations that io/ needs. Local files are one file system. The others have the same operations.
 * io/fs/file_systems.h chooses one for a path.
 *
 * Paths are full paths (io/fs/path.h). Every operation blocks, may be called from any thread, and reports errors with
 * the path in the message. A file system has no state that the caller must release.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fst_error;
struct file_system;
struct iovec;

struct file_status {
        char *path; /* full path; owned by the owner of the status */
        uint64_t size;
        uint64_t block_size; /* of a file: the maximal size of a split. 32 MiB for local files, as in Spark */
        int64_t modified_ms; /* since 1970 */
        bool directory;
        unsigned permission; /* the lowest 9 bits of a mode; 0777 or 0666 on a file system without permissions */
};

struct file_list {
        struct file_status *data;
        size_t len, cap;
};

/* A part of a file, and the hosts that store it. */
struct block_place {
        uint64_t offset, length;
        char *hosts; /* names, each followed by '\n'; owned */
};

struct block_list {
        struct block_place *data;
        size_t len, cap;
};

void block_list_deinit(struct block_list *list);
void file_status_deinit(struct file_status *status);
void file_list_deinit(struct file_list *list);
/* Moves the entries of @from to the end of @list, in the order of their paths, and frees the array of @from. */
void file_list_append_sorted(struct file_list *list, struct file_list *from);

/* A file open for reading at any position, or for writing at its end. The caller provides the storage. */
struct open_file {
        const struct file_system *fs; /* NULL when closed */
        char *path;                   /* owned by the caller of open or create, which keeps it until close */
        uint64_t size;                /* at the time of opening for reading */
        uint64_t wanted;              /* reading: the reader expects to read up to here. 0: unknown */
        int fd;                       /* for the local file system, as are flags */
        unsigned flags;
        void *state;                  /* for other file systems */
};
#define OPEN_FILE_INIT ((struct open_file){.fd = -1})

struct file_system {
        const char *scheme; /* "file" */

        /* Fills in @status. Returns 0, -ENOENT if the path does not exist, or another negative errno. */
        int (*stat)(const struct file_system *fs, const char *path, struct file_status *status,
                    struct fst_error *error);
        /* Appends the entries of a directory to @list, sorted by the bytes of their names. */
        int (*list)(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error);
        /* Opens a file for reading. @path must outlive the file. -EISDIR for a directory. */
        int (*open)(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error);
        /* Opens a file of @size bytes for reading, without a request for its status. NULL: open needs none. */
        int (*open_sized)(const struct file_system *fs, const char *path, uint64_t size, struct open_file *file,
                          struct fst_error *error);
        /* Reads up to @size bytes from @offset on. Returns the number read, 0 at the end of the file, or negative. A
         * file system with costly requests reads ahead, but only little beyond `wanted`. */
        ssize_t (*read_at)(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error);
        /* Creates a file and its directories. Truncates an existing file (Hadoop's create with overwrite). */
        int (*create)(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error);
        /* As create, for much content that has checksums of its own: few large requests, with a checksum that costs
         * little. NULL: use create. */
        int (*create_bulk)(const struct file_system *fs, const char *path, struct open_file *file,
                           struct fst_error *error);
        /* Creates a small file with this content and its directories, if there is none: of several callers exactly one
         * succeeds, and the others get -EEXIST. */
        int (*put_new)(const struct file_system *fs, const char *path, const void *data, size_t size,
                       struct fst_error *error);
        /* Appends all @size bytes. After a failed write only close and remove are allowed. */
        int (*write)(struct open_file *file, const void *data, size_t size, struct fst_error *error);
        /* Appends the bytes of all @n @parts, at most 1,024, with one call of the kernel if possible. Changes @parts. NULL:
         * write them one after another. */
        int (*write_parts)(struct open_file *file, struct iovec *parts, int n, struct fst_error *error);
        /* As write, of data that stays unchanged until the file is closed or discarded: it may be sent from where it
         * is. NULL: use write. */
        int (*write_kept)(struct open_file *file, const void *data, size_t size, struct fst_error *error);
        /* Closes the file, in any case. For a written file an error means that the data may be lost. */
        int (*close)(struct open_file *file, struct fst_error *error);
        /* Closes a file that will not be used. Any part of the written data may remain. */
        void (*discard)(struct open_file *file);
        /* Creates a directory and its parents. Returns 0 if it exists. */
        int (*mkdirs)(const struct file_system *fs, const char *path, struct fst_error *error);
        /* Renames a file or directory within the file system, atomically. Replaces an existing file or empty directory.
         * Returns -ENOTEMPTY for a directory with content, -ENOENT if @from does not exist. */
        int (*rename)(const struct file_system *fs, const char *from, const char *to, struct fst_error *error);
        /* Removes a file, or a directory with its content. Returns 0 if it does not exist. Does not follow links. */
        int (*remove)(const struct file_system *fs, const char *path, struct fst_error *error);
        /* Ends the uploads of files below a directory that their writers left incomplete, and frees their space. NULL: the
         * file system has no such uploads. */
        int (*abort_uploads)(const struct file_system *fs, const char *path, struct fst_error *error);
        /* Appends the hosts of each block of a file to @list, in order. NULL: no host is preferred. */
        int (*hosts)(const struct file_system *fs, const char *path, struct block_list *list, struct fst_error *error);
        /* Sets the permission of a file or directory. NULL: the file system has no permissions. */
        int (*set_permission)(const struct file_system *fs, const char *path, unsigned permission,
                              struct fst_error *error);
        /* Sets the number of copies of a file. NULL: the file system decides. */
        int (*set_replication)(const struct file_system *fs, const char *path, int copies, struct fst_error *error);
};
