/*
 * The file systems of this process: always local files, and the remote ones (io/fs/remote_fs.h: hdfs, webhdfs,
 * swebhdfs, s3a, s3, s3n) while an application exists whose configuration describes them. Like Hadoop's FileSystem
 * cache this is state of the process, so any code with a path can read it.
 *
 *      file_systems_use(env, &conf->set);                          from now on core-site.xml, hdfs-site.xml and
 *                                                                  spark.hadoop.* apply
 *      r = file_system_resolve("/data/x", &path, &fs, error);      "hdfs://depot/data/x", if that is fs.defaultFS …
 *      file_systems_leave(env);                                    once all files are closed
 *
 * Reads and loads nothing before the first path that needs it. Any thread.
 */
#pragma once

#include "io/fs/file_system.h"

struct strmap;

/* Makes the configuration @spark of the application @owner describe the remote file systems (copies its
 * spark.hadoop.*). The latest call applies. */
void file_systems_use(const void *owner, const struct strmap *spark);

/* Ends that application: its file systems must not be used any more. Does nothing if @owner never called
 * file_systems_use. */
void file_systems_leave(const void *owner);

/*
 * Returns the file system for the scheme of a full path. It lives until its application leaves. Errors:
 * -EPROTONOSUPPORT "No FileSystem for scheme …"; -EINVAL for an invalid core-site.xml or hdfs-site.xml; -ENOENT or
 * -ELIBBAD if the http module is missing.
 */
int file_system_of(const char *path, const struct file_system **fs, struct fst_error *error);

/*
 * Returns the full path (io/fs/path.h), owned by the caller, of a user's text, and its file system. Without a scheme it
 * belongs to fs.defaultFS (file: unless configured), and a relative name is relative to the user's home there,
 * /user/NAME. Returns the errors of path_resolve and file_system_of.
 */
int file_system_resolve(const char *text, char **path, const struct file_system **fs, struct fst_error *error);

/*
 * Adds to @out the Hadoop configuration that executors on other machines need. These are the settings of core-site.xml,
 * hdfs-site.xml and the variables AWS_* here, as spark.hadoop.NAME unless @out already has them, and the user's name.
 * Spark sends executors Hadoop's whole configuration and makes them act as the driver's user. Returns -EINVAL for an
 * invalid file.
 */
int file_systems_describe(struct strmap *out, struct fst_error *error);
