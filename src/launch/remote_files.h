/*
 * Files of a submission that are somewhere else: patterns become names, and what a driver needs here is downloaded.
 *
 *      struct remote_files *files;
 *      r = remote_files_new(&(struct remote_files_options){.conf = &conf, .env = env}, &files, error);
 *      r = remote_files_resolve_globs(files, "hdfs://nn/lib/x*.jar,b.txt#c", &list, error);
 *      r = remote_files_download_list(files, list, &local, error);
 *      char *dir = remote_files_take_directory(files);     // the caller removes it, NULL: nothing was downloaded
 *      remote_files_free(files);
 *
 * Schemes: file and local (stay where they are), http, https, ftp, hdfs, webhdfs, swebhdfs (through WebHDFS), s3a, s3,
 * s3n. Nothing costs anything before it is needed: Hadoop's configuration is read and libcurl loaded for the first
 * remote name, the directory made by the first download.
 *
 * Names are URIs or paths as Spark's Utils.resolveURI takes them; lists are separated by commas, blanks around names
 * and empty names do not count. Results are owned by the caller and replaced only on success. The sentences of errors
 * are those of Spark's exceptions, without their class.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct hadoop_conf;
struct remote_fs;
struct remote_files;
struct strmap;

struct remote_files_options {
        const struct strmap *conf; /* Spark's configuration: borrowed, and read when the first remote name comes */
        const char *(*env)(const char *name);
        const char *directory; /* for downloads, and nobody's to remove; NULL: one is made */
        /* Called before each download with the URL to show and where it goes. NULL: nobody is told. */
        void (*started)(void *context, const char *url, const char *path);
        /* Called before a file is put into the working directory: the URL to show, where it is, where it goes. NULL
         * too. */
        void (*moved)(void *context, const char *url, const char *from, const char *to);
        void *context;
};

int remote_files_new(const struct remote_files_options *options, struct remote_files **out, struct fst_error *error);
void remote_files_free(struct remote_files *files); /* keeps the directory: see remote_files_take_directory */

/* The directory of the downloads, or NULL; it is the caller's then, and to be removed by it (scratch_remove). */
char *remote_files_take_directory(struct remote_files *files);

/* Hadoop's configuration of this submission: files, AWS_* and spark.hadoop.*. Borrowed. -EINVAL with @error. */
int remote_files_hadoop_conf(struct remote_files *files, const struct hadoop_conf **out, struct fst_error *error);

/*
 * The file systems that are elsewhere (io/fs/remote_fs.h). Borrowed; one thread at a time. What remote_files_hadoop_conf
 * and remote_fs_new answer.
 */
int remote_files_systems(struct remote_files *files, struct remote_fs **out, struct fst_error *error);

/*
 * DependencyUtils.resolveGlobPaths: each name becomes the files that its pattern matches, in their order; a directory
 * and a pattern that nothing matches vanish, a plain name that is not there stays. A fragment ("#name") stays behind
 * the one file: -EINVAL "… resolves ambiguously to multiple files: …" for several. local, http(s) and ftp are not
 * looked at. -EPROTONOSUPPORT for schemes that there are no file systems for; what the file system answers.
 */
int remote_files_resolve_globs(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * DependencyUtils.downloadFile: "file:" and "local:" names come back as they are; anything else is downloaded into the
 * directory under its last component, and its "file:" URI is the result. A second file of the same name must have the
 * same content, unless spark.files.overwrite is true: -EEXIST. Where SPARK_TESTING is set in the environment http(s)
 * and ftp are not asked, as in Spark. The second is for a list.
 */
int remote_files_download(struct remote_files *files, const char *name, char **out, struct fst_error *error);
int remote_files_download_list(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * For YARN: download what its file systems could not fetch, or what spark.yarn.dist.forceDownloadSchemes names ("*":
 * all), unless it is in the directory already; other names become URIs. The list may be a single name.
 */
int remote_files_localize_for_yarn(struct remote_files *files, const char *list, char **out, struct fst_error *error);

/*
 * For the driver's pod (spark.kubernetes.submitInDriver): download each of @list, then copy it into the working
 * directory as its fragment or its name says, replacing what is there; archives are unpacked into a directory of that
 * name. Schemes in @avoid (a comma list, "*": all; NULL: none) stay remote, at the end of the list. The result names
 * the copies of files, and what archives were unpacked from; with compat 3.5 it names what was copied, and nothing is
 * avoided. -ENOENT for what is not there, and for what lies in the working directory under that name already.
 */
int remote_files_to_working_directory(struct remote_files *files, const char *list, bool archives, const char *avoid,
                                      char **out, struct fst_error *error);
