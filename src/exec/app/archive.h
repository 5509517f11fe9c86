/*
 * Unpacks archives of the application (--archives, spark.archives): .zip, .jar, .tar, .tar.gz, .tgz, .tar.zst and other
 * formats of io/codec/archive_library.h. That library is loaded with the first archive, because it is large.
 */
#pragma once

#include <stdint.h>

struct fst_conf;
struct fst_error;

/* Limits of an archive's unpacked content. A "zip bomb" unpacks to a thousand times its size. */
struct archive_limits {
        int64_t bytes, entries;
};

/* Reads spark.firesteel.archives.maxSize and .maxEntries. Returns negative with @error for invalid values. */
int archive_limits_read(const struct fst_conf *conf, struct archive_limits *limits, struct fst_error *error);

/*
 * Unpacks @path into the existing directory @into. Owners are not restored. Returns negative with @error, which names
 * the archive and the entry: -EINVAL for an entry outside of @into or a file that is not an archive, -EFBIG beyond
 * @limits (with the key to raise), -ENOTSUP if libarchive is not installed, or a file system error. Entries unpacked
 * before the error stay.
 */
int archive_unpack(const char *path, const char *into, const struct archive_limits *limits, struct fst_error *error);
