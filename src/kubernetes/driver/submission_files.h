/*
 * The files of a submission that are elsewhere: templates that are fetched, and what goes to
 * spark.kubernetes.file.upload.path. What struct kube_files asks for.
 *
 *      struct submission_files files;
 *      submission_files_init(&files, &conf);
 *      c.files = submission_files_of(&files);
 *      submission_files_deinit(&files);      // what was fetched is gone then
 */
#pragma once

#include "base/strmap.h"
#include "kubernetes/conf/kube_conf.h"

struct remote_files;

struct submission_files {
        const struct strmap *conf; /* borrowed */
        const char *ticket_cache;  /* whose tickets are used (net/kerberos.h), borrowed; NULL: those of the process */
        struct remote_files *remote;
};

void submission_files_init(struct submission_files *f, const struct strmap *conf);
void submission_files_deinit(struct submission_files *f);

/* Files are fetched from wherever spark-submit can download from, and uploaded to folders, HDFS and S3. */
struct kube_files submission_files_of(struct submission_files *f);
