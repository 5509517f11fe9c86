/*
 * Names of files as Hadoop's Path reads them: `[scheme:][//authority]/path`, or a name relative to the working
 * directory. They look like URIs but are not escaped: a space is a space and "%20" is three characters of the
 * name, as in Spark. Repeated and trailing slashes are dropped.
 *
 * Everywhere in io/ a file is named by the full form that path_resolve makes and that Spark's messages show:
 * "file:/data/x", "hdfs://host:8020/data/x".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

/*
 * The full form of what a user wrote, owned by the caller. No scheme means "file". -EINVAL for an empty name, a
 * scheme followed by a relative name ("file:x"), or a local name with a host; -ENAMETOOLONG from 4 KiB on. Nothing
 * is looked up on disk; only a relative name asks for the working directory.
 */
int path_resolve(const char *text, char **path, struct fst_error *error);

/* The scheme's length in a full path: 4 for "file:/x". */
size_t path_scheme_len(const char *path);

/* The part that the local file system understands: "/data/x" of "file:/data/x". Borrowed from @path. */
const char *path_local(const char *path);

/* The last component ("x" of "file:/data/x"), "" for the root. Borrowed from @path. */
const char *path_name(const char *path);

/* "file:/data" and "x" make "file:/data/x". Owned by the caller. */
char *path_join(const char *path, const char *name);

/* The directory that @path lies in, or NULL for the root. Owned by the caller. */
char *path_parent(const char *path);
