/*
 * The directories for local files: each directory of spark.local.dir gets a root `blockmgr-<uuid>` with up to 64
 * (spark.diskStore.subDirectories) subdirectories, over which names are distributed by hash.
 *
 * A directory that fails (full, broken, read-only) is logged once and not used for new files while another one works. A
 * directory with little room is skipped as long as that lasts. The writer of a failed file starts again: in the same
 * attempt of a task if all its data still exists, otherwise in the next. disk_dirs_free removes everything. After a
 * killed process, the next process that starts or ends to use the same directory removes its files.
 */
#pragma once

#include <stddef.h>

struct file_key;
struct fst_error;
struct disk_dirs;

/*
 * Returns the directories to use, as a comma list that the caller owns. As in Spark: LOCAL_DIRS in a YARN container
 * (CONTAINER_ID is set), else SPARK_EXECUTOR_DIRS (separated by colons), else SPARK_LOCAL_DIRS, else @local_dir
 * (spark.local.dir), else "/tmp".
 */
char *disk_dirs_configured(const char *local_dir);

/*
 * Creates a root with access for this user only in each directory of the comma list @list. Failing directories are
 * logged and skipped, and so are missing directories of SPARK_EXECUTOR_DIRS, whose worker has ended. Returns -EINVAL if
 * @list is empty or @subdirectories is not 1 … 4096; the last errno if no root could be created.
 */
int disk_dirs_new(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error);

/*
 * Does the same for files that outlive this process because a shuffle service serves them: the roots are not swept, and
 * disk_dirs_free keeps them. disk_dirs_remove, the service, or the owner of the parent directory removes them.
 */
int disk_dirs_new_lasting(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error);

/*
 * Creates directories `executor-<uuid>` for the executors of one application, which create their roots there: a
 * standalone worker passes them as SPARK_EXECUTOR_DIRS. Otherwise as disk_dirs_new.
 */
int disk_dirs_for_executors(const char *list, struct disk_dirs **dirs, struct fst_error *error);

/*
 * For executors: removes the directories of SPARK_EXECUTOR_DIRS if the worker that created them has ended, and those of
 * other ended workers beside them.
 */
void disk_dirs_sweep_executors(void);

/*
 * Removes the files of ended processes from each directory of the comma list. Processes that create such directories
 * call it, too.
 */
void disk_dirs_sweep(const char *list);

/*
 * Removes the roots as disk_dirs_free does, at the end of a process whose threads may still use @dirs. They get no new
 * files.
 */
void disk_dirs_leave(struct disk_dirs *dirs);

/* Removes the roots with their content, unless they are lasting, and frees @dirs. NULL is allowed. */
void disk_dirs_free(struct disk_dirs *dirs);

/* Does the same, also if they are lasting. NULL is allowed. */
void disk_dirs_remove(struct disk_dirs *dirs);

/*
 * Encrypts spills in these directories with @key (store/file_cipher.h) from now on. The key is freed with @dirs. Call
 * it before the first file. NULL is allowed and has no effect.
 */
void disk_dirs_encrypt(struct disk_dirs *dirs, struct file_key *key);

/* Returns that key, or NULL. */
const struct file_key *disk_dirs_key(const struct disk_dirs *dirs);

/* disk_dirs_count and disk_dirs_root: the roots, ".../blockmgr-<uuid>". Borrowed. */
size_t disk_dirs_count(const struct disk_dirs *dirs);
const char *disk_dirs_root(const struct disk_dirs *dirs, size_t i);

/*
 * Creates the empty file @name ("rdd_1_2"), open for reading and writing. The caller owns descriptor and path and
 * removes the file. Any thread. Returns -EEXIST if the name exists; other negatives if no directory works, with @error
 * listing all of them with their errors.
 */
int disk_dirs_create(struct disk_dirs *dirs, const char *name, int *fd, char **path, struct fst_error *error);

/*
 * Returns the path of the file @name in one of the roots that disk_dirs_new created in another process, in its order.
 * The caller owns it; NULL if no root has the file.
 */
char *disk_dirs_find(const char *const *roots, size_t n, int subdirectories, const char *name);

/* Does the same with a unique name: "temp_local_<uuid>" for the prefix "temp_local_". */
int disk_dirs_create_unique(struct disk_dirs *dirs, const char *prefix, int *fd, char **path, struct fst_error *error);

/*
 * Reports that writing or reading @path (of disk_dirs_create) failed with @code (a negated errno): other directories
 * are used from now on. Returns @code with the message "writing …: reason; remedy", which lists all directories if none
 * works any more. @doing is "writing". @dirs may be NULL, and the file another process's. Any thread.
 */
int disk_dirs_failed(struct disk_dirs *dirs, const char *doing, const char *path, int code, struct fst_error *error);

/*
 * Returns the number of directories that have not failed. A caller that sees it fall, but not to 0, can retry at once.
 * Any thread.
 */
size_t disk_dirs_left(const struct disk_dirs *dirs);
