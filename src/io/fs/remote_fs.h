/*
 * Files that are elsewhere: HDFS through WebHDFS (hdfs, webhdfs, swebhdfs) and S3 (s3a, s3, s3n). Everything travels
 * over HTTP (net/http/http.h); each operation under way has a connection of its own, and any thread may begin one.
 *
 * hdfs: the namenode's HTTP address is that of hdfs-site.xml (dfs.namenode.http-address, of each namenode of a
 * nameservice with several, which are asked in turn), else port 9870 of the URI's host; HTTPS with
 * dfs.http.policy=HTTPS_ONLY. The user is Hadoop's (HADOOP_USER_NAME), or Kerberos' with
 * hadoop.security.authentication=kerberos.
 *
 * s3a: fs.s3a.access.key, secret.key, session.token, endpoint, endpoint.region, path.style.access and
 * connection.ssl.enabled, and the same of one bucket (fs.s3a.bucket.NAME.…); AnonymousAWSCredentialsProvider among
 * fs.s3a.aws.credentials.provider asks without a signature.
 *
 * Reading asks for 4 MiB at a time, and of what lies behind `wanted` of the file for little. A file's block
 * size is the namenode's, or fs.s3a.block.size (32M); which hosts have its blocks, a namenode from Hadoop 3 on says.
 *
 * What writing means there:
 *      hdfs   bytes go to a datanode as they are written; the file is there, and grows, from create on. rename is
 *             atomic. Who writes must reach the datanodes at the addresses that the namenode knows.
 *      s3a    a file is there when close has answered 0, whole, and not before. What is larger than
 *             fs.s3a.multipart.size (8m unless said, 5m at least) is sent in parts of that size, of which one is in
 *             memory; they double each 1,000 parts, since there may be 10,000. discard takes parts back. There are no
 *             directories: mkdirs writes a marker "name/"; rename copies every key on the server (what is larger
 *             than 5g, or firesteel.s3a.copy.limit, travels through here) and then removes the old ones, so it is not
 *             atomic; remove takes a request for each 1,000 keys.
 *
 * Paths are full paths (io/fs/path.h).
 */
#pragma once

#include "io/fs/file_system.h"

struct hadoop_conf;
struct http_client;
struct remote_fs;

/* @conf is borrowed. Loads the http module: -ENOENT or -ELIBBAD with @error when it is not there. */
int remote_fs_new(const struct hadoop_conf *conf, struct remote_fs **out, struct fst_error *error);
void remote_fs_free(struct remote_fs *r); /* NULL is allowed */

/* A client for other requests in between, of one thread at a time. */
struct http_client *remote_fs_client(struct remote_fs *r);

/* Whether the scheme of @path is one of those above. */
bool remote_fs_knows(const char *path);

/*
 * The file system of a path. Lives as long as @r, which must outlive open files. A file open for reading belongs to
 * one thread. -EPROTONOSUPPORT "No FileSystem for scheme
 * …".
 */
int remote_fs_of(struct remote_fs *r, const char *path, const struct file_system **fs, struct fst_error *error);

/*
 * Read a file from its beginning to its end: @sink gets its bytes, and ends it with a negative errno. -ENOENT,
 * -EACCES, -EISDIR, what http_perform answers, each with the path in @error.
 */
int remote_fs_fetch(struct remote_fs *r, const char *path, int (*sink)(void *context, const char *data, size_t n),
                    void *context, struct fst_error *error);
