/*
 * Remote file systems: HDFS through WebHDFS (hdfs, webhdfs, swebhdfs) and S3 (s3a, s3, s3n), over HTTP
 * (net/http/http.h). Each running operation has a connection of its own, and any thread may start one.
 *
 * hdfs: the namenode's HTTP address is dfs.namenode.http-address of hdfs-site.xml (for a nameservice that of each
 * namenode, tried in turn), otherwise port 9870 of the URI's host; HTTPS with dfs.http.policy=HTTPS_ONLY. The user is
 * Hadoop's (HADOOP_USER_NAME), or that of Kerberos with hadoop.security.authentication=kerberos.
 *
 * s3a: fs.s3a.access.key, secret.key, session.token, endpoint, endpoint.region, path.style.access and
 * connection.ssl.enabled, and the same keys for one bucket (fs.s3a.bucket.NAME.…). With AnonymousAWSCredentialsProvider
 * in fs.s3a.aws.credentials.provider, requests are not signed.
 *
 * Reads request 4 MiB at a time, and only little beyond the file's `wanted`. The block size is the namenode's, or
 * fs.s3a.block.size (32M). Namenodes report the hosts of blocks since Hadoop 3.
 *
 * Writing:
 *      hdfs   bytes go to a datanode as they are written; the file exists, and grows, from create on. rename is
 *             atomic. The writer must reach the datanodes at the addresses that the namenode knows.
 *      s3a    a file exists, complete, once close has returned 0, and not before. A file larger than
 *             fs.s3a.multipart.size (8m unless said, 5m at least) is sent in parts of that size, of which one is in
 *             memory; the size doubles every 1,000 parts, because the limit is 10,000. discard deletes parts. Parts
 *             of bulk content (create_bulk) have 64m unless said, of which at most 16m are copied; they have a CRC-32C,
 *             unless fs.s3a.create.checksum.algorithm is NONE. There are no directories: mkdirs writes a marker
 *             "name/"; rename copies every key on the server (a key larger than 5g, or firesteel.s3a.copy.limit, is
 *             downloaded and uploaded) and then removes the old keys, so it is not atomic; remove needs a request for
 *             each 1,000 keys.
 *
 * Paths are full paths (io/fs/path.h).
 */
#pragma once

#include "io/fs/file_system.h"

struct hadoop_conf;
struct http_client;
struct remote_fs;

/* Borrows @conf. Loads the http module: -ENOENT or -ELIBBAD with @error if it is missing. */
int remote_fs_new(const struct hadoop_conf *conf, struct remote_fs **out, struct fst_error *error);
void remote_fs_free(struct remote_fs *r); /* NULL is allowed */

/* A client for other requests, for one thread at a time. */
struct http_client *remote_fs_client(struct remote_fs *r);

/* True if the scheme of @path is one of the above. */
bool remote_fs_knows(const char *path);

/* Returns the file system of a path. It lives as long as @r, which must outlive open files. A file open for reading
 * belongs to one thread. -EPROTONOSUPPORT "No FileSystem for scheme …". */
int remote_fs_of(struct remote_fs *r, const char *path, const struct file_system **fs, struct fst_error *error);

/* Reads a whole file into @sink, which may end the transfer with a negative errno. Returns -ENOENT, -EACCES, -EISDIR or
 * the error of http_perform, each with the path in @error. */
int remote_fs_fetch(struct remote_fs *r, const char *path, int (*sink)(void *context, const char *data, size_t n),
                    void *context, struct fst_error *error);
