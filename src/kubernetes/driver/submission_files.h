/*
 * Transfers files of a submission: fetches remote templates, and uploads local files to
 * spark.kubernetes.file.upload.path. Implements struct kube_files.
 *
 *      struct submission_files files;
 *      submission_files_init(&files, &conf);
 *      c.files = submission_files_of(&files);
 *      submission_files_deinit(&files);      // removes the fetched files
 */
#pragma once

#include "base/strmap.h"
#include "kubernetes/conf/kube_conf.h"

struct remote_files;

struct submission_files {
        const struct strmap *conf; /* borrowed */
        const char *ticket_cache;  /* borrowed user whose tickets are used (net/kerberos.h); NULL: the process's */
        struct remote_files *remote;
};

void submission_files_init(struct submission_files *f, const struct strmap *conf);
void submission_files_deinit(struct submission_files *f);

/* Fetches from all sources of spark-submit. Uploads to directories, HDFS and S3. */
struct kube_files submission_files_of(struct submission_files *f);
