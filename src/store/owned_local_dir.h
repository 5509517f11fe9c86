/*
 * A root: a process's own directory in a shared one (of spark.local.dir), removed after the process ends in any way.
 *
 * Spark never removes the directories of killed processes. Here each root holds a file that its process locks for its
 * lifetime. A process that starts or ends to use the same shared directory removes the roots whose file is not locked.
 * Roots without such a file (Spark's) and those of other users are never touched.
 */
#pragma once

#define LOCAL_ROOT_BLOCKS "blockmgr-"    /* prefix of a driver's or executor's roots */
#define LOCAL_ROOT_EXECUTORS "executor-" /* prefix of a worker's directories for an application's executors */

/*
 * Returns a path for a new root, "<base>/<prefix><uuid>". local_root_base returns the base of a path. Owned by the
 * caller.
 */
char *local_root_path(const char *base, const char *prefix);
char *local_root_base(const char *root);

/*
 * Creates the root with access for this user only. Its parent must exist. @lock is a descriptor that keeps the root in
 * use while any process has it open. The caller owns it. Returns -errno.
 */
int local_root_make(const char *root, int *lock);

/* Removes a root with its content. The owner of @lock closes it afterwards. */
void local_root_remove(const char *root);

/* Removes the roots of ended processes from @base. */
void local_root_sweep(const char *base);
