/*
 * A container image, written without a daemon: an archive that docker load, podman load, ctr images import and
 * skopeo take. It holds this program with everything native that it needs, and nothing else: no shell, no package
 * manager. What it is run as is its entrypoint's business (image/entry/entrypoint.h).
 *
 *      / three layers, so that a new application does not change the large ones:
 *      1. the C library, the libraries, certificates, /etc/passwd, /tmp
 *      2. Firesteel, below /opt/spark as in Spark's images, /opt/entrypoint.sh and /opt/decom.sh
 *      3. what the user adds, below /opt/app unless said otherwise
 *
 * The same program and the same added files make the same bytes: owners, times and the order of files are fixed.
 * The archive is an OCI image layout (version 1.0.0) with a manifest.json of docker's beside it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define IMAGE_USER 185 /* as in Spark's images */
#define IMAGE_APP_FOLDER "/opt/app"

/* A file or folder of this machine, and its absolute path in the image. */
struct image_added {
        const char *from, *to;
};

struct image_options {
        const char *name;   /* REPOSITORY[:TAG]; without a tag "latest" */
        const char *output; /* the archive; what is there is replaced once the new one is whole */
        const char *root;   /* or a folder, new or empty, that gets the image's files as they are: for a Dockerfile */
        const struct image_added *added;
        size_t n_added;
        int user; /* the id that it runs as; 0 is root */
};

struct image_report {
        char digest[80];         /* "sha256:…", of the image's manifest: what registries call it by; "" of a folder */
        uint64_t compressed;     /* bytes of its layers as a registry holds them; 0 of a folder */
        uint64_t uncompressed;   /* bytes of its files */
        size_t files, libraries; /* how many; libraries are among the files */
};

/*
 * Blocks. 0 and *@report, or negative with @error: -EINVAL for a name that is none, for two files of one path, for a
 * path that is not absolute; -ENOTSUP without libarchive; what the file system answers, naming the file. Nothing is
 * left at @output then but what was there.
 */
int image_build(const struct image_options *options, struct image_report *report, struct fst_error *error);
