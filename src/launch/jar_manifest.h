/* The attributes in a jar's META-INF/MANIFEST.MF. Loads libarchive to read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

/*
 * Stores the value of @name ("Main-Class") in the manifest's main section in *@out, owned by the caller, or NULL if
 * there is none. @jar is a path. With @streamed it reads as JarInputStream, which only finds a manifest that is the
 * first file, at most after its directory (Spark reads Main-Class so). Otherwise it reads as JarFile, which finds it
 * anywhere. Returns -ENOENT "File file:/… does not exist", -ENODATA in Java's words for a jar without manifest or a
 * file that is not a jar, -EINVAL for an invalid manifest ("invalid header field"), -ENOTSUP if libarchive is not
 * installed.
 */
int jar_manifest_attribute(const char *path, const char *name, bool streamed, char **out, struct fst_error *error);

/*
 * Stores the main class of the application at @resource, a URI, in *@class, or NULL if the manifest names none. Follows
 * Spark 2.4, which reads local files only. Returns -EINVAL or the error of reading, with Spark's message in @error.
 */
int jar_main_class_2_4(const char *resource, char **class, struct fst_error *error);

/* The same for the text of a manifest. Returns -EINVAL "invalid header field" and other errors of Java's Manifest. */
int manifest_attribute(const char *text, size_t len, const char *name, char **out, struct fst_error *error);
