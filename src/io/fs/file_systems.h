/*
 * Which file systems this process knows: local files always, and those that are elsewhere (io/fs/remote_fs.h: hdfs,
 * webhdfs, swebhdfs, s3a, s3, s3n) while an application is there whose configuration describes them. As Hadoop's
 * FileSystem cache this belongs to the process, so that whoever has a path can read it.
 *
 *      file_systems_use(env, &conf->set);      core-site.xml, hdfs-site.xml and spark.hadoop.* are what counts from now
 * on r = file_system_resolve("/data/x", &path, &fs, error);       "hdfs://depot/data/x", if that is fs.defaultFS …
 *      file_systems_leave(env);                once no file is open any more
 *
 * Nothing is read or loaded before the first path that needs it. Any thread.
 */
#pragma once

#include "io/fs/file_system.h"

struct strmap;

/*
 * From now on the application of @owner is the one whose configuration @spark (its spark.hadoop.* are copied) describes
 * remote file systems. Of several the last counts.
 */
void file_systems_use(const void *owner, const struct strmap *spark);

/* That application is over: none of the file systems made for it is used any more. Nothing for who never used any. */
void file_systems_leave(const void *owner);

/*
 * The file system of a full path, by its scheme. It stays until its application leaves. -EPROTONOSUPPORT "No FileSystem
 * for scheme …"; -EINVAL for a damaged core-site.xml or hdfs-site.xml; -ENOENT or -ELIBBAD when the http module is not
 * there.
 */
int file_system_of(const char *path, const struct file_system **fs, struct fst_error *error);

/*
 * What a user wrote as a full path (io/fs/path.h), owned by the caller, and its file system. Where no scheme is given, it
 * is that of fs.defaultFS (file: unless the configuration says otherwise), and a relative name is one of the user's
 * home there, /user/NAME. Errors of path_resolve and file_system_of.
 */
int file_system_resolve(const char *text, char **path, const struct file_system **fs, struct fst_error *error);

/*
 * Add to @out, as spark.hadoop.NAME, what core-site.xml, hdfs-site.xml and AWS_* of the environment say here, unless it
 * has NAME already, and who the user is: what an application's executors, which may be where no such file is, have to
 * know. Spark sends them Hadoop's whole configuration and has them act as the driver's user. -EINVAL for a damaged
 * file.
 */
int file_systems_describe(struct strmap *out, struct fst_error *error);
