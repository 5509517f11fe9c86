/*
 * Running an action: what every public action does around its job.
 */
#pragma once

#include "driver/context.h"
#include "driver/job_runner.h"
#include "rdd/aggregate/op_reduce.h"

/*
 * Run @action on partitions of @rdd (NULL: all): plan it, find out what its lineage needs to know
 * (driver/actions/preliminary_jobs.h), submit, wait; make the checkpoints that are due. 0, or negative with
 * @error.
 */
int action_run(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
               struct fst_error *error);

/* The same without the checkpoints that are due after an action's job (driver/actions/checkpoint.h). */
int action_run_job(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
                   struct fst_error *error);

/* Write the partitions of @rdd as object files part-00000, … of @path, whole or not at all: 0, or negative with @error.
 */
int action_save_checkpoint(fst_rdd *rdd, const char *path, fst_site site, struct fst_error *error);

/* Before the first job: whether the RDD and its context can be; as action_run. Sets the number of partitions. */
int action_check(fst_rdd *rdd, struct fst_error *error);

/* Whether the application gave @place, to which the action of @site writes its @what: 0, or -EINVAL, reported. */
int action_check_place(fst_rdd *rdd, const void *place, const char *what, fst_site site);

/* Report a failed action: as context_action_failed, with its name and source line. */
int action_failed(fst_rdd *rdd, fst_site site, int status, struct fst_error *error);

/* Whether a value of @type can be written to @variable: 0, or -EINVAL, saying that @what gives it. */
int action_check_variable(fst_type type, fst_variable variable, const char *what, struct fst_error *error);

/* Write @value, which is there, to a variable that was checked. Bytes are valid until the context stops. */
void action_give(fst_context *sc, fst_type type, const struct reduce_value *value, fst_variable to);

/* A copy of @bytes that is valid until the context stops, with a NUL behind it. */
fst_bytes action_keep_bytes(fst_context *sc, fst_bytes bytes);

/* All rows taken into a value of @made by @take in the partitions; these by @combine. */
struct reduce_plan {
        fst_fn take, combine;
        fst_type made;
        const struct reduce_value *zero; /* NULL: none; -ENODATA if there are no rows */
};

/* Carry that out, and write the value to @result: 0, or negative with @error. */
int action_reduce(fst_rdd *rdd, const struct reduce_plan *plan, fst_variable result, fst_site site,
                  struct fst_error *error);

/* A constant of the application's and its type; *@value borrows from it. -EINVAL with @error if it is too large. */
int action_constant(fst_constant constant, fst_type *type, struct reduce_value *value, struct fst_error *error);

/* How many partitions take asks, round by round (spark.rdd.limit.*). */
struct take_rules {
        int64_t first, scale_up;
};
int action_take_rules(fst_rdd *rdd, struct take_rules *rules, struct fst_error *error);

/* How many after @seen of @partitions, which had @found of the @wanted rows. */
int action_take_round(const struct take_rules *rules, int seen, int partitions, int64_t found, int64_t wanted);

/* The actions that are one job, for who runs it himself: count, and what calls functions for their effects. */
struct count_job {
        struct action action;
        int64_t total;
};
struct count_job count_job_of(const fst_rdd *rdd);

struct foreach_action;
int foreach_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, struct fst_error *error);
int foreach_partition_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, fst_site site,
                                  struct fst_error *error);

/* For an action without a result. */
int action_no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error);
