/* Control groups for executors and drivers: the kernel limits each to its memory and cores. Off by default.
 * Spark.firesteel.worker.cgroup names the parent group ("/firesteel"), in which each process gets its own group.
 *
 * Uses version 2 (memory.max, cpu.max) or version 1 (memory.limit_in_bytes, cpu.cfs_quota_us), whichever is mounted.
 */
#pragma once

#include <stdint.h>

struct cgroup;
struct cgroups;
struct fst_error;

/* Creates or opens the parent group @parent below @root ("/sys/fs/cgroup"; tests pass a tree of files), and removes
 * empty groups in it, which a killed worker leaves. Negative with @error: nothing is mounted, no permission, …
 */
int cgroups_new(const char *root, const char *parent, struct cgroups **out, struct fst_error *error);
void cgroups_free(struct cgroups *groups);

/* Creates a group with these limits. Negative with @error. */
int cgroup_new(const struct cgroups *groups, const char *name, int64_t memory, int cores, struct cgroup **out,
               struct fst_error *error);

/* The files to which a process writes its pid to join the group with its future children; NULL-terminated. */
char *const *cgroup_procs(const struct cgroup *group);

/* Removes the group if it is empty. Otherwise the next cgroups_new does. NULL is allowed. */
void cgroup_free(struct cgroup *group);
