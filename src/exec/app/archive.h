/*
 * Unpacking archives of the application (--archives, spark.archives): .zip, .jar, .tar, .tar.gz, .tgz, .tar.zst and
 * whatever else io/codec/archive_library.h reads. It is loaded when the first archive comes: it needs more memory and time
 * than the rest of the program.
 */
#pragma once

struct fst_error;

/*
 * Unpack @path into the directory @into, which exists. Owners are not restored. Negative with @error, which names the
 * archive and the entry: -EINVAL for an entry that would lie outside of @into, and for what is no archive; -ENOTSUP
 * when libarchive is not installed; what the file system answers. What was unpacked before stays.
 */
int archive_unpack(const char *path, const char *into, struct fst_error *error);
