/*
 * Writes a container image without a daemon: an archive for docker load, podman load, ctr images import and skopeo. It
 * holds this program and its native dependencies, without shell or package manager. Its entrypoint selects the role
 * (image/entry/entrypoint.h).
 *
 *      / layers, so that a new application does not change the large ones:
 *      1. the C library, the libraries, certificates, time zones, /etc/passwd, /tmp
 *      2. with `python`: the interpreter and its packages below /opt/python (image/python_files.h); with `r`: R, its
 *         packages and a shell (image/r_files.h)
 *      3. Firesteel, below /opt/spark as in Spark's images, /opt/entrypoint.sh and /opt/decom.sh
 *      4. the user's files, by default below /opt/app
 *
 * The same program and added files give the same bytes, because owners, times and the order of files are fixed. The
 * archive is an OCI image layout (version 1.0.0) plus docker's manifest.json.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define IMAGE_USER 185 /* as in Spark's images */
#define IMAGE_APP_FOLDER "/opt/app"

/* A file or directory of this machine, and its absolute path in the image. */
struct image_added {
        const char *from, *to;
};

struct image_options {
        const char *name;   /* REPOSITORY[:TAG]; the default tag is "latest" */
        const char *output; /* the archive; replaces an existing file once it is complete */
        const char *root;   /* or a directory, new or empty, for the image's files: for a Dockerfile */
        const struct image_added *added;
        size_t n_added;
        int user;           /* the user id in the container; 0 is root */
        const char *python; /* an interpreter of this machine for Python applications; NULL: none */
        const char *r;      /* Rscript of this machine for applications in R; NULL: none */
};

struct image_report {
        char digest[80];         /* "sha256:…" of the manifest, the image's name in registries; "" for a directory */
        uint64_t compressed;     /* compressed bytes of the layers; 0 for a directory */
        uint64_t uncompressed;   /* bytes of the files */
        size_t files, libraries; /* the libraries count as files too */
};

/*
 * Blocks. Returns 0 and *@report, or negative with @error: -EINVAL for an invalid name, two files with the same path or
 * a relative path, -ENOENT for a `python` without pyspark or an `r` without SparkR, -ENOTSUP without libarchive, or the
 * file system's error with the file's name. After an error, @output is as before.
 */
int image_build(const struct image_options *options, struct image_report *report, struct fst_error *error);
