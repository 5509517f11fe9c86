/* What remote_fs.c, the files of WebHDFS and those of S3 share. */
#pragma once

#include "base/vec.h"
#include "io/fs/file_system.h"
#include "io/fs/hadoop_conf.h"
#include "net/http/http.h"

struct remote_fs;

/* What one operation, or one file open for writing, has for itself: a client, and its last answer. */
struct remote_call {
        struct remote_fs *fs;
        const struct hadoop_conf *conf;
        struct http_client *http;
        struct http_answer answer;
        struct remote_call *next; /* while nobody uses it */
};

/* What the state of each open file begins with. */
struct remote_file {
        bool written; /* else it is read */
        struct remote_call *call;

        /* reading: bytes from `offset` on, of which there may be some before they are asked for */
        char *ahead;
        uint64_t offset;
        size_t filled, room;
};

int remote_call_begin(struct remote_fs *fs, struct remote_call **out, struct fst_error *error);
void remote_call_end(struct remote_call **call);

struct url_list {
        char **data;
        size_t len, cap;
};

typedef int (*remote_sink)(void *context, const char *data, size_t n);

void url_list_deinit(struct url_list *urls);

/* A sink into memory: the range that was asked for, and no more. */
struct remote_range {
        char *data;
        size_t size, filled;
};
int remote_range_put(void *range, const char *data, size_t n); /* -EPROTO for more than there is room for */

/* "host:port" of "hdfs://host:port/x", "" if there is none. Owned by the caller. */
char *remote_authority(const char *path);

/* The addresses of the namenodes that may know @path: "http://host:port", in order. -EINVAL without a host. */
int webhdfs_addresses(const struct hadoop_conf *conf, const char *path, struct url_list *urls, struct fst_error *error);

struct webhdfs_question {
        const char *method;    /* NULL: GET */
        const char *operation; /* "GETFILESTATUS", with more of the query if there is any, quoted */
        int expected;          /* status; 0: 200 */
        remote_sink sink;
        void *context;
};

/* Ask the namenode that is active about @path: 0 with c->answer of the expected status. */
int webhdfs_ask(struct remote_call *c, const char *path, const struct webhdfs_question *q, struct fst_error *error);
/* What an answer of another status means; @who answers. */
int webhdfs_refusal(const struct http_answer *answer, const char *path, const char *who, struct fst_error *error);
int webhdfs_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error);
int webhdfs_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
int webhdfs_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error);

/* Appends to @list; of a namenode that cannot be asked nothing. */
int webhdfs_hosts(struct remote_call *c, const char *path, struct block_list *list, struct fst_error *error);

/* Up to @size bytes from @offset on, which is before the end of the file. */
ssize_t webhdfs_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                     struct fst_error *error);

/* webhdfs_write.c. create keeps @c until the file is closed; nothing else may use it meanwhile. */
int webhdfs_create(struct remote_call *c, const char *path, struct open_file *file, struct fst_error *error);
int webhdfs_write(struct open_file *file, const void *data, size_t size, struct fst_error *error);
int webhdfs_close(struct open_file *file, bool keep, struct fst_error *error);
int webhdfs_mkdirs(struct remote_call *c, const char *path, struct fst_error *error);
int webhdfs_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error);
int webhdfs_remove(struct remote_call *c, const char *path, struct fst_error *error);

/* fs.s3a.block.size, which objects do not have themselves; -EINVAL for one that cannot be read. */
int s3a_block_size(const struct hadoop_conf *conf, const char *path, uint64_t *size, struct fst_error *error);
/* fs.s3a.bucket.BUCKET.@name, else fs.s3a.@name; NULL if neither says anything. Owned by the caller. */
char *s3a_option(const struct hadoop_conf *conf, const char *bucket, const char *name);
/* The key that @path names, "" for the bucket. Borrowed. */
const char *s3a_key(const char *path);

struct s3a_question {
        const char *method; /* NULL: GET */
        const char *key, *query;
        const void *body; /* NULL: there is none */
        size_t body_len;
        const char *header; /* one more; NULL: none */
        remote_sink sink;
        void *context;
};

/* Ask for a key of the path's bucket: 0 with c->answer of any status. What is busy is asked again a few times. */
int s3a_ask(struct remote_call *c, const char *path, const struct s3a_question *q, struct fst_error *error);
int s3a_refusal(const struct http_answer *answer, const char *path, struct fst_error *error);
/* A page of ListObjectsV2's answer: entries to @list, below @path; *@next names the next page, NULL: none. */
int s3a_read_listing(const char *text, size_t len, const char *path, struct file_list *list, char **next,
                     struct fst_error *error);
/* The URL of @key in @bucket, without a query. Owned by the caller. */
char *s3a_url(const struct hadoop_conf *conf, const char *bucket, const char *key);
int s3a_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error);
int s3a_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
/* Every key below @path, however deep, as a path; those of directories' markers end in "/". */
int s3a_list_deep(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
int s3a_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error);

ssize_t s3a_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                 struct fst_error *error);

/* s3a_write.c. create keeps @c until the file is closed; other operations may use it meanwhile. */
int s3a_create(struct remote_call *c, const char *path, struct open_file *file, struct fst_error *error);
int s3a_write(struct open_file *file, const void *data, size_t size, struct fst_error *error);
int s3a_close(struct open_file *file, bool keep, struct fst_error *error);
int s3a_mkdirs(struct remote_call *c, const char *path, struct fst_error *error);
int s3a_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error);
int s3a_remove(struct remote_call *c, const char *path, struct fst_error *error);
