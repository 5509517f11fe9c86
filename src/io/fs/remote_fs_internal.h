/* Declarations that remote_fs.c, the WebHDFS files and the S3 files share. */
#pragma once

#include "base/vec.h"
#include "io/fs/file_system.h"
#include "io/fs/hadoop_conf.h"
#include "net/http/http.h"

struct string_list;

struct iovec;
struct remote_fs;

/* The HTTP client and last answer of one operation, or of one file open for writing. */
struct remote_call {
        struct remote_fs *fs;
        const struct hadoop_conf *conf;
        struct http_client *http;
        struct http_answer answer;
        struct remote_call *next; /* list of unused calls */
};

/* The first member of each open file's state. */
struct remote_file {
        bool written; /* open for writing, otherwise for reading */
        struct remote_call *call;

        /* reading: a buffer of bytes from `offset` on, read ahead */
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

/* A sink into memory for exactly the requested range. */
struct remote_range {
        char *data;
        size_t size, filled;
};
int remote_range_put(void *range, const char *data, size_t n); /* -EPROTO if there is more data than room */

/* "host:port" of "hdfs://host:port/x", or "". The caller owns it. */
char *remote_authority(const char *path);

/* The addresses of the namenodes for @path: "http://host:port", in order. -EINVAL without a host. */
int webhdfs_addresses(const struct hadoop_conf *conf, const char *path, struct url_list *urls, struct fst_error *error);

struct webhdfs_request {
        const char *method;    /* NULL: GET */
        const char *operation; /* "GETFILESTATUS", followed by further quoted query parameters, if any */
        int expected;          /* status; 0: 200 */
        bool about_tokens;     /* asks for or renews a delegation token: only a Kerberos ticket may do so */
        remote_sink sink;
        void *context;
};

/* Sends a request about @path to the active namenode. Returns 0 with c->answer of the expected status. */
int webhdfs_send(struct remote_call *c, const char *path, const struct webhdfs_request *q, struct fst_error *error);
/* Returns the error for an answer with another status. @who names the server for the message. */
int webhdfs_error(const struct http_answer *answer, const char *path, const char *who, struct fst_error *error);
int webhdfs_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error);
int webhdfs_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
int webhdfs_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error);

/* Appends to @list. Appends nothing if the namenode does not support the request. */
int webhdfs_hosts(struct remote_call *c, const char *path, struct block_list *list, struct fst_error *error);

/* Reads up to @size bytes from @offset on, which must be within the file. */
ssize_t webhdfs_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                     struct fst_error *error);

/* webhdfs_write.c. create keeps @c until the file is closed. No other operation may use it meanwhile. */
int webhdfs_create(struct remote_call *c, const char *path, bool overwrite, struct open_file *file,
                   struct fst_error *error);
int webhdfs_write(struct open_file *file, const void *data, size_t size, struct fst_error *error);
int webhdfs_close(struct open_file *file, bool keep, struct fst_error *error);
int webhdfs_mkdirs(struct remote_call *c, const char *path, struct fst_error *error);
int webhdfs_set_permission(struct remote_call *c, const char *path, unsigned permission, struct fst_error *error);
int webhdfs_set_replication(struct remote_call *c, const char *path, int copies, struct fst_error *error);
int webhdfs_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error);
int webhdfs_remove(struct remote_call *c, const char *path, struct fst_error *error);

/* fs.s3a.block.size, because objects have no block size; -EINVAL for an invalid value. */
int s3a_block_size(const struct hadoop_conf *conf, const char *path, uint64_t *size, struct fst_error *error);
/* fs.s3a.bucket.BUCKET.@name, otherwise fs.s3a.@name, otherwise NULL. The caller owns it. */
char *s3a_option(const struct hadoop_conf *conf, const char *bucket, const char *name);
/* The key of @path, "" for the bucket. Borrowed. */
const char *s3a_key(const char *path);

struct s3a_request {
        const char *method; /* NULL: GET */
        const char *key, *query;
        const void *body; /* NULL: no body */
        size_t body_len;
        const struct iovec *pieces; /* the body in place of `body`, body_len bytes in all; only with `checked` */
        size_t n_pieces;
        const char *header; /* one further header, or NULL */
        bool checked;       /* `header` has a checksum of the body, whose SHA-256 is not computed then */
        remote_sink sink;
        void *context;
};

/* Sends a request about a key of the path's bucket. Returns 0 with c->answer of any status. Repeats the request a few
 * times while the store is busy. */
int s3a_send(struct remote_call *c, const char *path, const struct s3a_request *q, struct fst_error *error);
int s3a_refusal(const struct http_answer *answer, const char *path, struct fst_error *error);
/* Reads a page of a ListObjectsV2 answer: appends the entries below @path to @list. *@next is the token of the next
 * page, or NULL. */
int s3a_read_listing(const char *text, size_t len, const char *path, struct file_list *list, char **next,
                     struct fst_error *error);
/* Reads an answer of ListMultipartUploads: appends the key and the id of each upload. */
int s3a_read_uploads(const char *text, size_t len, const char *path, struct string_list *keys, struct string_list *ids,
                     struct fst_error *error);
/* Aborts the multipart uploads of keys below the directory @path. */
int s3a_abort_uploads(struct remote_call *c, const char *path, struct fst_error *error);
/* The URL of @key in @bucket, without a query. The caller owns it. */
char *s3a_url(const struct hadoop_conf *conf, const char *bucket, const char *key);
int s3a_stat(struct remote_call *c, const char *path, struct file_status *status, struct fst_error *error);
int s3a_list(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
/* Lists every key below @path at any depth, as a path. Directory markers end in "/". */
int s3a_list_deep(struct remote_call *c, const char *path, struct file_list *list, struct fst_error *error);
int s3a_fetch(struct remote_call *c, const char *path, remote_sink sink, void *context, struct fst_error *error);

ssize_t s3a_read(struct remote_call *c, const char *path, void *data, size_t size, uint64_t offset,
                 struct fst_error *error);

/* s3a_write.c. create keeps @c until the file is closed. Other operations may use it meanwhile. */
int s3a_create(struct remote_call *c, const char *path, bool bulk, struct open_file *file, struct fst_error *error);
int s3a_put_new(struct remote_call *c, const char *path, const void *data, size_t size, struct fst_error *error);
int s3a_write(struct open_file *file, const void *data, size_t size, struct fst_error *error);
int s3a_write_kept(struct open_file *file, const void *data, size_t size, struct fst_error *error);
int s3a_close(struct open_file *file, bool keep, struct fst_error *error);
int s3a_mkdirs(struct remote_call *c, const char *path, struct fst_error *error);
int s3a_rename(struct remote_call *c, const char *from, const char *to, struct fst_error *error);
int s3a_remove(struct remote_call *c, const char *path, struct fst_error *error);
