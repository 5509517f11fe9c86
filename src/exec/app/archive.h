/*
 * Unpacking archives of the application (--archives, spark.archives): .zip, .jar, .tar, .tar.gz, .tgz, .tar.zst and
 * whatever else io/codec/archive_library.h reads. It is loaded when the first archive comes: it needs more memory and
 * time than the rest of the program.
 */
#pragma once

#include <stdint.h>

struct fst_conf;
struct fst_error;

/* What an archive may unpack. A small file can hold very much: "zip bombs" have a thousandfold of their size. */
struct archive_limits {
        int64_t bytes, entries;
};

/* spark.firesteel.archives.maxSize and .maxEntries. Negative with @error for values that are not sizes or numbers. */
int archive_limits_read(const struct fst_conf *conf, struct archive_limits *limits, struct fst_error *error);

/*
 * Unpack @path into the directory @into, which exists. Owners are not restored. Negative with @error, which names the
 * archive and the entry: -EINVAL for an entry that would lie outside of @into, and for a file that is not an archive;
 * -EFBIG beyond @limits, with the key to raise; -ENOTSUP when libarchive is not installed; what the file system
 * answers. What was unpacked before stays.
 */
int archive_unpack(const char *path, const char *into, const struct archive_limits *limits, struct fst_error *error);
