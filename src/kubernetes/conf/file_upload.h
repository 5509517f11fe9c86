/*
 * Files of this machine that pods are to have: they go to spark.kubernetes.file.upload.path, each into a directory of
 * its own, and their new URIs take the place of the old ones.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>

struct fst_error;
struct kube_conf;

/* Whether @uri is a path or a file: URI. */
bool file_is_local(const char *uri);

/*
 * Upload @uri through c->files: *@out, the caller's, is where it is then. Without an upload function nothing is sent.
 * -EINVAL if there is no such path, or the function's error, with Spark's sentences.
 */
int file_upload(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/* Where file_upload puts @uri in this submission, without putting it there. Likewise. */
int file_upload_target(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/*
 * Upload what is local of the list @key; if anything was, set @key in @out to the new list. Fragments of archives,
 * which name what they are unpacked into, stay.
 */
int file_upload_list(const struct kube_conf *c, const char *key, struct strmap *out, struct fst_error *error);
