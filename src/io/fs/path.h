/*
 * File names like those of Hadoop's Path: `[scheme:][//authority]/path`, or a name relative to the working directory.
 * They look like URIs but have no escapes: a space is a space and "%20" is three characters of the name, as in Spark.
 * Repeated and trailing slashes are dropped.
 *
 * io/ names every file by the full form that path_resolve returns and that Spark's messages show: "file:/data/x",
 * "hdfs://host:8020/data/x".
 */
#pragma once

#include <stddef.h>

struct fst_error;

/*
 * Returns the full form of a user's text. The caller owns it. Without a scheme it is "file". Returns -EINVAL for an
 * empty name, a scheme with a relative name ("file:x"), or a local name with a host; -ENAMETOOLONG from 4 KiB on. Does
 * not access the disk, except to read the working directory for a relative name.
 */
int path_resolve(const char *text, char **path, struct fst_error *error);

/* The length of a full path's scheme: 4 for "file:/x". */
size_t path_scheme_len(const char *path);

/* The local file name: "/data/x" of "file:/data/x". Borrowed from @path. */
const char *path_local(const char *path);

/* The last component ("x" of "file:/data/x"), "" for the root. Borrowed from @path. */
const char *path_name(const char *path);

/* "file:/data" and "x" give "file:/data/x". The caller owns it. */
char *path_join(const char *path, const char *name);

/* The directory of @path, or NULL for the root. The caller owns it. */
char *path_parent(const char *path);
