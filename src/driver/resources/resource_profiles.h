/*
 * The resource profiles of an application: those that it built, and which of them RDDs use (Spark's
 * ResourceProfileManager).
 *
 * Threads: any. A profile lives as long as the context.
 */
#pragma once

#include "sched/resource_profile.h"

struct fst_context;
struct fst_error;
struct resource_profiles;

/* Reads the default profile from the configuration, whose values the context has checked. */
struct resource_profiles *resource_profiles_new(struct fst_context *sc);
void resource_profiles_free(struct resource_profiles *r);

/* Posts the event of the default profile. */
void resource_profiles_post_default(struct resource_profiles *r);

/* The profile of this id, if some RDD uses it or it is the default one; otherwise NULL. */
const struct fst_resource_profile *resource_profiles_find(struct resource_profiles *r, int id);

/* As sched_ops.profile: adds a merged profile. */
const struct task_profile *resource_profiles_of_stage(struct resource_profiles *r, const int *ids, int n);

/* The number of tasks that an executor of the profile runs at once; 0 for the default one. */
int resource_profiles_tasks_per_executor(struct resource_profiles *r, int id);
