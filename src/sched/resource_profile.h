/* A resource profile: what each executor and each task of a stage gets (Spark's ResourceProfile). It never changes.
 *
 * Amounts have names: of executors "cores", "memory", "memoryOverhead", "offHeap" and "pyspark.memory" (in MiB), of
 * tasks "cpus". Other names are custom resources such as "gpu".
 */
#pragma once

#include "base/strmap.h"
#include "sched/sched_config.h"

#include <stdint.h>

struct fst_error;

#define PROFILE_CORES "cores"
#define PROFILE_MEMORY "memory"
#define PROFILE_OVERHEAD "memoryOverhead"
#define PROFILE_OFF_HEAP "offHeap"
#define PROFILE_PYSPARK "pyspark.memory"
#define PROFILE_CPUS "cpus"

struct profile_amount {
        const char *name;
        double amount;               /* of executors a whole number */
        const char *script, *vendor; /* of executors: how custom resources are found; "": none */
};

struct fst_resource_profile {
        int id;                                 /* 0: the default profile */
        bool task_only;                         /* it says nothing about executors */
        struct profile_amount *executor, *task; /* by name */
        int n_executor, n_task;
        struct task_profile needs; /* for the scheduler; its requests are custom resources of tasks */
};

/* Copies the amounts. A later one replaces an earlier one of the same name. @task_cpus counts without "cpus". */
struct fst_resource_profile *resource_profile_new(int id, const struct profile_amount *executor, int n_executor,
                                                  const struct profile_amount *task, int n_task, int task_cpus);
void resource_profile_free(struct fst_resource_profile *p);

/* Returns true if executors and tasks get the same. The ids may differ. */
bool resource_profile_equal(const struct fst_resource_profile *a, const struct fst_resource_profile *b);

/* The larger amount of each resource. */
struct fst_resource_profile *resource_profile_merge(int id, const struct fst_resource_profile *a,
                                                    const struct fst_resource_profile *b, int task_cpus);

/* The amount with this name; NULL: none. */
const struct profile_amount *resource_profile_of_executor(const struct fst_resource_profile *p, const char *name);

/* For tests: the same of tasks. */
const struct profile_amount *resource_profile_of_task(const struct fst_resource_profile *p, const char *name);

/* The amount of executors, or @otherwise without one. */
int64_t resource_profile_amount(const struct fst_resource_profile *p, const char *name, int64_t otherwise);

/* Returns true if the name is that of a custom resource of executors. */
bool resource_profile_is_custom(const char *name);

/* Stores in *@tasks how many tasks an executor of the profile runs at once; 1 if no resource limits them. @cores: of an
 * executor whose profile has none; 0: the cluster manager decides. @executors: the profile whose executors run the
 * tasks. Returns 0, or -EINVAL with Spark's sentence in @error if an executor cannot run any.
 */
int resource_profile_tasks_per_executor(const struct fst_resource_profile *p,
                                        const struct fst_resource_profile *executors, int cores, int *tasks,
                                        struct fst_error *error);

/* Changes a configuration to that of an executor of the profile: cores, memory, resources, cpus of tasks. Its values
 * replace those of the default profile, whose custom resources are removed.
 */
void resource_profile_apply(const struct fst_resource_profile *p, struct strmap *properties);
