/*
 * Resolves patterns in a submission's file names, and downloads the files that a driver needs.
 *
 *      struct remote_files *files;
 *      r = remote_files_new(&(struct remote_files_options){.conf = &conf, .env = env}, &files, error);
 *      r = remote_files_resolve_globs(files, "hdfs://nn/lib/x*.jar,b.txt#c", &list, error);
 *      r = remote_files_download_list(files, list, &local, error);
 *      char *dir = remote_files_take_directory(files);     // the caller removes it, NULL: nothing was downloaded
 *      remote_files_free(files);
 *
 * Schemes: file and local (not downloaded), http, https, ftp, hdfs, webhdfs, swebhdfs (over WebHDFS), s3a, s3, s3n.
 * Everything is lazy: the first remote name reads Hadoop's configuration and loads libcurl, the first download creates
 * the directory.
 *
 * Names are URIs or paths in the form of Spark's Utils.resolveURI. Lists are separated by commas. Names are trimmed and
 * empty ones dropped. The caller owns the results, which change only on success. Error messages are those of Spark's
 * exceptions, without their class.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct hadoop_conf;
struct remote_fs;
struct remote_files;
struct strmap;

struct remote_files_options {
        const struct strmap *conf; /* Spark's configuration: borrowed, read at the first remote name */
        const char *(*env)(const char *name);
        const char *directory; /* for downloads, kept by remote_files; NULL: create one */
        /* Called before each download with the URL to show and the target. May be NULL. */
        void (*started)(void *context, const char *url, const char *path);
        /*
         * Called before a file is copied to the working directory, with the URL to show, the source and the target. May
         * be NULL.
         */
        void (*moved)(void *context, const char *url, const char *from, const char *to);
        void *context;
};

int remote_files_new(const struct remote_files_options *options, struct remote_files **out, struct fst_error *error);
void remote_files_free(struct remote_files *files); /* keeps the directory; see remote_files_take_directory */

/* The directory of the downloads, or NULL. The caller then owns it and must remove it (exit_cleanup_remove). */
char *remote_files_take_directory(struct remote_files *files);

/* Hadoop's configuration of this submission: files, AWS_* and spark.hadoop.*. Borrowed. Returns -EINVAL with @error. */
int remote_files_hadoop_conf(struct remote_files *files, const struct hadoop_conf **out, struct fst_error *error);

/*
 * The remote file systems (io/fs/remote_fs.h). Borrowed, for one thread at a time. Returns the errors of
 * remote_files_hadoop_conf and remote_fs_new.
 */
int remote_files_systems(struct remote_files *files, struct remote_fs **out, struct fst_error *error);

/*
 * DependencyUtils.resolveGlobPaths: replaces each name by the files that its pattern matches, in their order.
 * Directories and patterns without matches vanish, and a plain name that does not exist stays. A fragment ("#name")
 * stays with its file, and several matches then fail with -EINVAL "… resolves ambiguously to multiple files: …". Names
 * with local, http(s) and ftp are not resolved. Returns -EPROTONOSUPPORT for an unknown scheme, or the file system's
 * error.
 */
int remote_files_resolve_globs(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * DependencyUtils.downloadFile: returns "file:" and "local:" names unchanged. Downloads other files into the directory
 * under their last component, and returns a "file:" URI. A second file of the same name must have the same content,
 * unless spark.files.overwrite is true: -EEXIST. If SPARK_TESTING is set in the environment, http(s) and ftp are
 * skipped, as in Spark. The second function takes a list.
 */
int remote_files_download(struct remote_files *files, const char *name, char **out, struct fst_error *error);
int remote_files_download_list(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * For YARN: downloads the files that its file systems cannot fetch, or whose scheme
 * spark.yarn.dist.forceDownloadSchemes lists ("*": all), unless they are in the directory already. Other names become
 * URIs. The list may be a single name.
 */
int remote_files_localize_for_yarn(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * For the driver's pod (spark.kubernetes.submitInDriver): downloads each of @list, then copies it to the working
 * directory under its fragment or name, replacing an existing file. Archives are unpacked into a directory of that
 * name. Names with a scheme in @avoid (a comma list, "*": all; NULL: none) stay remote, at the end of the list. The
 * result names the copies of files and the sources of archives. With compat 3.5 it names the sources of files too, and
 * @avoid is ignored. Returns -ENOENT for a missing file, and for a source that already lies in the working directory
 * under that name.
 */
int remote_files_to_working_directory(struct remote_files *files, const char *list, bool archives, const char *avoid,
                                      char **out, struct fst_error *error);
