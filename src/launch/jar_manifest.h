/* What a jar says about itself in META-INF/MANIFEST.MF. libarchive is loaded to find it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

/*
 * The value of @name ("Main-Class") of the manifest's main section, owned by the caller, into *@out: NULL if it has
 * none. The jar is a path. @streamed: as JarInputStream looks, which only finds a manifest that is the first file,
 * behind its directory at most (Spark reads Main-Class so); else as JarFile, which finds it anywhere.
 * -ENOENT "File file:/… does not exist"; -ENODATA in the words of Java for a jar without manifest and for what is no
 * jar; -EINVAL for a manifest that cannot be read ("invalid header field"); -ENOTSUP when libarchive is not installed.
 */
int jar_manifest_attribute(const char *path, const char *name, bool streamed, char **out, struct fst_error *error);

/*
 * The main class of the application at @resource, a URI, as Spark 2.4 looks for it: in local files only. NULL in
 * *@class if the manifest names none; -EINVAL or what reading failed with, and Spark's sentence in @error.
 */
int jar_main_class_2_4(const char *resource, char **class, struct fst_error *error);

/* The same for the text of a manifest. -EINVAL "invalid header field" and what else Java's Manifest refuses. */
int manifest_attribute(const char *text, size_t len, const char *name, char **out, struct fst_error *error);
