/*
 * A root: the directory that a process has for itself in one that it shares with others (of spark.local.dir), and that
 * is gone when the process is, however it ended.
 *
 * Spark leaves the directories of a killed process behind for ever. Here each root holds a locked file for as long as
 * its process lives, and whoever begins or ends to use the same directory removes those whose file nobody has locked.
 * Roots without such a file (Spark's own), and those of other users, are never touched.
 */
#pragma once

#define LOCAL_ROOT_BLOCKS "blockmgr-"    /* names begin with that: of an executor's or driver's own files */
#define LOCAL_ROOT_EXECUTORS "executor-" /* of what a worker has made for an application's executors */

/* A path for a new one, "<base>/<prefix><uuid>", and the base of a path. Owned by the caller. */
char *local_root_path(const char *base, const char *prefix);
char *local_root_base(const char *root);

/*
 * Make it, for this user alone; what it is in has to be there. @lock: a descriptor that says, as long as any process
 * has it open, that the root is in use; the caller's. -errno.
 */
int local_root_make(const char *root, int *lock);

/* Remove it with all that is in it. Who has @lock closes that afterwards. */
void local_root_remove(const char *root);

/* Remove what processes left in @base that are gone. */
void local_root_sweep(const char *base);
