/*
 * kubeconfig files: several are read as one, as kubectl does. Of current-context the first file that says it decides;
 * of clusters, users and contexts the first that has the name. Paths in a file are relative to its folder.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

/* The one file @path, or several with ":" between them. Files that are not there are passed over. */
struct kube_files;
int kube_files_read(const char *paths, struct kube_files **out, struct fst_error *error);
int kube_files_parse(const char *text, size_t len, const char *folder, struct kube_files **out,
                     struct fst_error *error);
void kube_files_free(struct kube_files *files);
size_t kube_files_count(const struct kube_files *files); /* those that were there */

/* What @context, or the current one if NULL or "", says, into an empty @out. No current context: nothing. */
int kube_files_context(const struct kube_files *files, const char *context, struct kube_config *out,
                       struct fst_error *error);
