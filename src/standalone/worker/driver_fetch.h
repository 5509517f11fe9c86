/* Fetches a driver's application into the driver's directory.
 *
 *      /path, file:/path         copied
 *      local:/path               already on every worker
 *      http, https, ftp, hdfs, webhdfs, s3a, …      downloaded
 */
#pragma once

struct fst_error;
struct strmap;

/* Fetches @url into the existing @directory under its last component. An existing file of that name is used as it is.
 * @conf is the driver's configuration (spark.hadoop.…), borrowed. The caller owns *@path. Blocks: run it on a pool
 * thread. Negative with @error.
 */
int driver_jar_fetch(const char *url, const char *directory, const struct strmap *conf, char **path,
                     struct fst_error *error);
