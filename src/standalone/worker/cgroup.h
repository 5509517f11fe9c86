/*
 * Control groups for what a worker starts: the kernel holds each executor and driver to its memory and cores. Opt-in,
 * spark.firesteel.worker.cgroup names the parent group ("/firesteel"), in which each process has a group of its own.
 *
 * Version 2 (memory.max, cpu.max) and version 1 (memory.limit_in_bytes, cpu.cfs_quota_us), whichever is mounted.
 */
#pragma once

#include <stdint.h>

struct cgroup;
struct cgroups;
struct fst_error;

/*
 * Make or find the parent group @parent below @root ("/sys/fs/cgroup"; tests give a tree of files), and remove groups
 * in it that are empty: a worker that was killed leaves them. Negative with @error: nothing is mounted, no rights, …
 */
int cgroups_new(const char *root, const char *parent, struct cgroups **out, struct fst_error *error);
void cgroups_free(struct cgroups *groups);

/* A group of this name with these limits. Negative with @error. */
int cgroup_new(const struct cgroups *groups, const char *name, int64_t memory, int cores, struct cgroup **out,
               struct fst_error *error);

/* The files to which a process writes its number to join it, and with it all that it will start; ends in NULL. */
char *const *cgroup_procs(const struct cgroup *group);

/* Remove the group once it is empty; one that is not is left to the next cgroups_new. NULL is allowed. */
void cgroup_free(struct cgroup *group);
