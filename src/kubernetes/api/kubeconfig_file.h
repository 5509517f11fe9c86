/*
 * Reads and merges kubeconfig files as kubectl does. The first file that has current-context, or a cluster, user or
 * context of a name, wins. Paths in a file are relative to its directory.
 */
#pragma once

#include "kubernetes/api/kube_config.h"

/* Reads one file, or several separated by ":". Skips missing files. */
struct kubeconfig_files;
int kube_files_read(const char *paths, struct kubeconfig_files **out, struct fst_error *error);
int kube_files_parse(const char *text, size_t len, const char *folder, struct kubeconfig_files **out,
                     struct fst_error *error);
void kube_files_free(struct kubeconfig_files *files);
size_t kube_files_count(const struct kubeconfig_files *files); /* files that exist */

/*
 * Fills the empty @out from @context, or from the current context if @context is NULL or "". Leaves @out empty if there
 * is no current context.
 */
int kube_files_context(const struct kubeconfig_files *files, const char *context, struct kube_config *out,
                       struct fst_error *error);
