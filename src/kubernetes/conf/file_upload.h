/*
 * Uploads local files for pods to spark.kubernetes.file.upload.path, each into its own directory, and replaces their
 * URIs by the new ones.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>

struct fst_error;
struct kube_conf;

/* Whether @uri is a path or a file: URI. */
bool file_is_local(const char *uri);

/*
 * Uploads @uri through c->files. The caller owns *@out, the new URI. Without an upload function it sends nothing.
 * Returns 0, -EINVAL for a missing path, or the function's error, with Spark's message.
 */
int file_upload(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/* As file_upload, but only returns the URI that file_upload would use in this submission. */
int file_upload_target(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/*
 * Uploads the local files in the list @key. If there are any, sets @key in @out to the new list. Keeps the fragments of
 * archives, which name the directory to unpack into.
 */
int file_upload_list(const struct kube_conf *c, const char *key, struct strmap *out, struct fst_error *error);
