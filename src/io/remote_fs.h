/*
 * Files that are elsewhere, to be looked at and read: HDFS through WebHDFS (hdfs, webhdfs, swebhdfs) and S3 (s3a, s3,
 * s3n). Everything travels over one http client (net/http.h), so one thread uses a remote_fs at a time.
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
 * Paths are full paths (io/paths.h).
 */
#pragma once

#include "io/file_system.h"

struct hadoop_conf;
struct http_client;
struct remote_fs;

/* @conf is borrowed. Loads the http module: -ENOENT or -ELIBBAD with @error when it is not there. */
int remote_fs_new(const struct hadoop_conf *conf, struct remote_fs **out, struct fst_error *error);
void remote_fs_free(struct remote_fs *r); /* NULL is allowed */

/* Its client, for other requests in between. */
struct http_client *remote_fs_client(struct remote_fs *r);

/*
 * The file system of a path: stat and list work, the others are NULL. Lives as long as @r. -EPROTONOSUPPORT
 * "No FileSystem for scheme …".
 */
int remote_fs_of(struct remote_fs *r, const char *path, const struct file_system **fs, struct fst_error *error);

/*
 * Read a file from its beginning to its end: @sink gets its bytes, and ends it with a negative errno. -ENOENT,
 * -EACCES, -EISDIR, what http_perform answers, each with the path in @error.
 */
int remote_fs_fetch(struct remote_fs *r, const char *path, int (*sink)(void *context, const char *data, size_t n),
                    void *context, struct fst_error *error);
