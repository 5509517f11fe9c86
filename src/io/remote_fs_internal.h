/* What remote_fs.c, webhdfs.c and s3a.c share. */
#pragma once

#include "base/vec.h"
#include "io/file_system.h"
#include "io/hadoop_conf.h"
#include "net/http.h"

struct remote_fs {
        struct file_system hdfs, s3a; /* fs pointers lead back here: see remote_fs_from */
        const struct hadoop_conf *conf;
        struct http_client *http;
        struct http_answer answer;
};

struct url_list {
        char **data;
        size_t len, cap;
};

typedef int (*remote_sink)(void *context, const char *data, size_t n);

void url_list_deinit(struct url_list *urls);

/* "host:port" of "hdfs://host:port/x", "" if there is none. Owned by the caller. */
char *remote_authority(const char *path);

/* The addresses of the namenodes that may know @path: "http://host:port", in order. -EINVAL without a host. */
int webhdfs_addresses(const struct hadoop_conf *conf, const char *path, struct url_list *urls, struct fst_error *error);
int webhdfs_stat(struct remote_fs *r, const char *path, struct file_status *status, struct fst_error *error);
int webhdfs_list(struct remote_fs *r, const char *path, struct file_list *list, struct fst_error *error);
int webhdfs_fetch(struct remote_fs *r, const char *path, remote_sink sink, void *context, struct fst_error *error);

/* A page of ListObjectsV2's answer: entries to @list, below @path; *@next names the next page, NULL: none. */
int s3a_read_listing(const char *text, size_t len, const char *path, struct file_list *list, char **next,
                     struct fst_error *error);
/* The URL of @key in @bucket, without a query. Owned by the caller. */
char *s3a_url(const struct hadoop_conf *conf, const char *bucket, const char *key);
int s3a_stat(struct remote_fs *r, const char *path, struct file_status *status, struct fst_error *error);
int s3a_list(struct remote_fs *r, const char *path, struct file_list *list, struct fst_error *error);
int s3a_fetch(struct remote_fs *r, const char *path, remote_sink sink, void *context, struct fst_error *error);
