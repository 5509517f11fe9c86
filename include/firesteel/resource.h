/*
 * Resource profiles: stages of one application get different executors and tasks (Spark's stage-level scheduling).
 *
 *      struct fst_executor_amount executor[] = {{"cores", 4}, {"memory", 8192}, {"gpu", 2, "/opt/find-gpus"}};
 *      struct fst_task_amount task[] = {{"cpus", 1}, {"gpu", 0.5}};
 *      fst_resource_profile *training = fst_resource_profile_new(sc, executor, 3, task, 2);
 *      fst_rdd *model = fst_map_partitions(fst_with_resources(rows, training), train, FST_BYTES);
 *
 * A stage has the profile of its RDDs. RDDs with several profiles in one stage fail the job, unless
 * spark.scheduler.resource.profileMergeConflicts merges them: then the larger amount of each resource counts.
 *
 * A profile of executors needs dynamic allocation and a cluster: the application asks for executors of that profile
 * when it has stages for them. A profile that has only amounts of tasks works without dynamic allocation too: its
 * tasks run on the application's executors. Local masters have no profiles.
 */
#pragma once

#include <firesteel/context.h>
#include <firesteel/rdd.h>

FST_BEGIN_DECLS

typedef struct fst_resource_profile fst_resource_profile;

/* Amounts for each executor. Names: "cores"; "memory", "memoryOverhead", "offHeap", "pyspark.memory" in MiB; or that of
 * a custom resource, as "gpu" in spark.executor.resource.gpu.amount.
 */
struct fst_executor_amount {
        const char *name;
        int64_t amount;
        const char *discovery_script, *vendor; /* of a custom resource; NULL: none */
};

/* Amounts for each task. Names: "cpus", or that of a custom resource. An amount of a custom resource is a whole number,
 * or a fraction below 1 of an address that tasks share.
 */
struct fst_task_amount {
        const char *name;
        double amount;
};

/*
 * Build a profile. What it does not name comes from the configuration. With @n_executor 0 it describes tasks alone.
 * Copies everything. The context owns the profile. Returns NULL, logs the reason and makes it the context's status
 * (-EINVAL) for a missing or negative amount, and for a fraction above 1.
 */
#define fst_resource_profile_new(sc, executor, n_executor, task, n_task)                                               \
        fst_resource_profile_new_at((sc), (executor), (n_executor), (task), (n_task), FST_HERE("resource_profile_new"))
FST_API fst_resource_profile *fst_resource_profile_new_at(fst_context *sc, const struct fst_executor_amount *executor,
                                                          size_t n_executor, const struct fst_task_amount *task,
                                                          size_t n_task, fst_site site);

/* 1, 2, … in the process, as in pages, the REST API and event logs. 0 is the default profile, of the configuration. */
FST_API int fst_resource_profile_id(const fst_resource_profile *profile);

/*
 * Use @profile for the stages that compute @rdd. Call it before the first action. Returns 0, or -EINVAL or -ENOTSUP,
 * logged and kept as the context's status, if the master or the configuration does not allow the profile, or if an
 * executor of it could not run a task.
 */
#define fst_with_resources(rdd, profile) fst_with_resources_at((rdd), (profile), FST_HERE("with_resources"))
FST_API fst_rdd *fst_with_resources_at(fst_rdd *rdd, const fst_resource_profile *profile, fst_site site);

/* The profile that fst_with_resources gave the RDD; NULL: none. */
FST_API const fst_resource_profile *fst_rdd_resource_profile(const fst_rdd *rdd);

FST_END_DECLS
