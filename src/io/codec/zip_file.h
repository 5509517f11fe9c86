/*
 * Zip archives: writes one to a sink, entry by entry, and reads a single entry of a file.
 *
 *      zip_writer_init(&zip, sink, context);
 *      r = zip_writer_begin(&zip, "conf/a.xml", error);
 *      r = zip_writer_put(&zip, text, n, error);           any number of times
 *      r = zip_writer_end(&zip, error);                    …  further entries
 *      r = zip_writer_finish(&zip, error);
 *      zip_writer_deinit(&zip);
 *
 * Data is not compressed: entries are deflate streams of stored blocks, whose checksum follows the data, as Java's
 * ZipOutputStream writes them with level 0. So an archive of jars streams to a remote file in one pass, and any reader
 * takes it. An entry or archive of 4 GiB and more, or of more than 65,534 entries, has the numbers of ZIP64, as Java
 * writes them. The reader takes archives below 4 GiB only.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

/* Receives the archive's bytes in order. Returns 0, or negative with @error. */
typedef int zip_sink(void *context, const void *data, size_t n, struct fst_error *error);

struct zip_writer {
        zip_sink *sink;
        void *context;
        uint64_t offset;      /* bytes written so far */
        unsigned entries;     /* complete ones */
        struct buf directory; /* the central directory so far */
        char *name;           /* of the open entry, else NULL */
        uint64_t start;       /* offset of its header */
        uint64_t size, packed;
        uint32_t checksum;
};

void zip_writer_init(struct zip_writer *zip, zip_sink *sink, void *context);
void zip_writer_deinit(struct zip_writer *zip);

/* Begins an entry. A name that ends in "/" is a directory. All return 0, the sink's error, or -EFBIG with @error. */
int zip_writer_begin(struct zip_writer *zip, const char *name, struct fst_error *error);
int zip_writer_put(struct zip_writer *zip, const void *data, size_t n, struct fst_error *error);
int zip_writer_end(struct zip_writer *zip, struct fst_error *error);
int zip_writer_finish(struct zip_writer *zip, struct fst_error *error);

/* A whole entry. */
int zip_writer_add(struct zip_writer *zip, const char *name, const void *data, size_t n, struct fst_error *error);

/*
 * Appends the content of the entry @name of the file at @path to @out. Returns 0, -ENOENT without @error if there is no
 * such entry, -EFBIG beyond @most bytes, -EBADMSG for a damaged archive, or -errno.
 */
int zip_file_read(const char *path, const char *name, size_t most, struct buf *out, struct fst_error *error);
