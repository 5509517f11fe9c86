/*
 * Where local files go: the directories of spark.local.dir, each with a `blockmgr-<uuid>` of its own in it and up to
 * 64 (spark.diskStore.subDirectories) subdirectories, which names are spread over by their hash.
 *
 * A directory that fails (full, broken, read-only) is reported once and passed over for new files as long as another
 * one works; so is one with hardly any room left, for as long as that is so. Who was writing to it starts again, in the
 * same attempt of a task if all that the file was to have is still there, otherwise in the next. Everything is removed
 * by disk_dirs_free; what a killed process left is removed by the next one that begins or ends to use the same
 * directory.
 */
#pragma once

#include <stddef.h>

struct file_key;
struct fst_error;
struct disk_dirs;

/*
 * The directories to use, as Spark chooses them: LOCAL_DIRS in a YARN container (CONTAINER_ID is set), else
 * SPARK_EXECUTOR_DIRS (separated by colons), else SPARK_LOCAL_DIRS, else @local_dir (the value of spark.local.dir),
 * else "/tmp". A comma list that the caller owns.
 */
char *disk_dirs_configured(const char *local_dir);

/*
 * Make the roots, with rights for this user alone, in each directory of the comma list @list. Those that cannot be made
 * are logged and left out; so is a directory of SPARK_EXECUTOR_DIRS that is not there any more, as its worker is gone.
 * -EINVAL if @list is empty or @subdirectories is not 1 … 4096; otherwise the last errno if not one could be made.
 */
int disk_dirs_new(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error);

/*
 * The same, but what is in them outlives this process, for a shuffle service that serves it: nobody sweeps the roots,
 * and disk_dirs_free leaves them. Who removes them is disk_dirs_remove, the service, or who owns the folder above.
 */
int disk_dirs_new_lasting(const char *list, int subdirectories, struct disk_dirs **dirs, struct fst_error *error);

/*
 * Directories of the name `executor-<uuid>` for the executors of one application, which make roots of their own in
 * them: what a standalone worker gives them as SPARK_EXECUTOR_DIRS. Otherwise as disk_dirs_new.
 */
int disk_dirs_for_executors(const char *list, struct disk_dirs **dirs, struct fst_error *error);

/*
 * For executors: remove the directories of SPARK_EXECUTOR_DIRS if the worker that made them is gone, and all that such
 * workers left beside them.
 */
void disk_dirs_sweep_executors(void);

/*
 * In each directory of the comma list: remove what processes left that are gone. Who makes such directories does so
 * too.
 */
void disk_dirs_sweep(const char *list);

/*
 * What disk_dirs_free does for others, while threads of this process may still use @dirs, and get no file any more: the
 * process ends.
 */
void disk_dirs_leave(struct disk_dirs *dirs);

/* Remove the roots with all that is in them, unless they last. NULL is allowed. */
void disk_dirs_free(struct disk_dirs *dirs);

/* Remove them in any case. NULL is allowed. */
void disk_dirs_remove(struct disk_dirs *dirs);

/*
 * Spills made in these directories from now on are encrypted with @key (store/file_cipher.h), which is freed with them.
 * Before the first file. NULL is allowed, and changes nothing.
 */
void disk_dirs_encrypt(struct disk_dirs *dirs, struct file_key *key);

/* That key, or NULL. */
const struct file_key *disk_dirs_key(const struct disk_dirs *dirs);

/* The roots: ".../blockmgr-<uuid>". Borrowed. */
size_t disk_dirs_count(const struct disk_dirs *dirs);
const char *disk_dirs_root(const struct disk_dirs *dirs, size_t i);

/*
 * A new, empty file @name ("rdd_1_2"), open for reading and writing; the caller owns descriptor and path and
 * removes the file. Any thread. -EEXIST if there is one of that name already; other negatives when no directory works,
 * with all of them and their reasons in the sentence.
 */
int disk_dirs_create(struct disk_dirs *dirs, const char *name, int *fd, char **path, struct fst_error *error);

/*
 * The path of the file @name in one of the roots that disk_dirs_new made in another process, in its order. Owned by the
 * caller; NULL if none has it.
 */
char *disk_dirs_find(const char *const *roots, size_t n, int subdirectories, const char *name);

/* The same with a name that nobody else has: "temp_local_<uuid>" for the prefix "temp_local_". */
int disk_dirs_create_unique(struct disk_dirs *dirs, const char *prefix, int *fd, char **path, struct fst_error *error);

/*
 * Writing or reading @path (of disk_dirs_create) answered @code (a negated errno): other directories are used from now
 * on. Returns @code with the sentence for it, "writing …: why; what to do", which names all directories when none is
 * left; @doing is "writing". @dirs may be NULL, and the file that of another process. Any thread.
 */
int disk_dirs_failed(struct disk_dirs *dirs, const char *doing, const char *path, int code, struct fst_error *error);

/* How many have not failed yet: who sees this number fall, but not to 0, can try again at once. Any thread. */
size_t disk_dirs_left(const struct disk_dirs *dirs);
