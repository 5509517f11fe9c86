/*
 * The application of a driver that a worker is to run: fetched into the driver's directory, whatever kind it is.
 *
 *      /path, file:/path         copied
 *      local:/path               is on every worker already
 *      http, https, ftp, hdfs, webhdfs, s3a, …      downloaded
 */
#pragma once

struct fst_error;
struct strmap;

/*
 * Fetch @url into @directory, which is there, under its last component; what has that name already is taken for it.
 * @conf is the driver's configuration (spark.hadoop.…), borrowed. *@path is owned by the caller. Blocks: for a thread
 * of its own. Negative with @error.
 */
int driver_jar_fetch(const char *url, const char *directory, const struct strmap *conf, char **path,
                     struct fst_error *error);
