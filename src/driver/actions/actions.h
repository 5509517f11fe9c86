/* The common part of actions: checks, their job, checkpoints, results for the application. */
#pragma once

#include "driver/context.h"
#include "driver/job_runner.h"
#include "rdd/aggregate/op_reduce.h"

/*
 * Run @action on @n partitions of @rdd (@partitions NULL: all): plan the RDD, run the preliminary jobs of its lineage
 * (driver/actions/preliminary_jobs.h), submit the job, wait, and write due checkpoints. Returns 0, or a negative status
 * with @error.
 */
int action_run(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
               struct fst_error *error);

/* The same without the checkpoints (driver/actions/checkpoint.h). */
int action_run_job(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
                   struct fst_error *error);

/*
 * Write the partitions of @rdd as object files part-00000, … below @path, completely or not at all. Returns 0, or a
 * negative status with @error.
 */
int action_save_checkpoint(fst_rdd *rdd, const char *path, fst_site site, struct fst_error *error);

/* Check the RDD and its context before the first job, and set the number of partitions. Returns as action_run. */
int action_check(fst_rdd *rdd, struct fst_error *error);

/* Check the @n partitions that a job is to compute (NULL: all). Returns 0, or -EINVAL with @error. */
int action_check_partitions(fst_rdd *rdd, const int *partitions, size_t n, struct fst_error *error);

/*
 * Check that the application gave @place, where the action at @site writes its @what. Returns 0, or -EINVAL after
 * reporting it.
 */
int action_check_place(fst_rdd *rdd, const void *place, const char *what, fst_site site);

/* Report a failed action: as context_action_failed, with its name and source line. */
int action_failed(fst_rdd *rdd, fst_site site, int status, struct fst_error *error);

/* Check that a value of @type fits @variable. Returns 0, or -EINVAL with @error, which names @what as its source. */
int action_check_variable(fst_type type, fst_variable variable, const char *what, struct fst_error *error);

/* Write @value to a checked variable. Bytes are valid until the context stops. */
void action_give(fst_context *sc, fst_type type, const struct reduce_value *value, fst_variable to);

/* Write @row, the bytes of a struct, which must stay until the context stops, to the struct at @to. */
void action_read_struct(fst_context *sc, const struct struct_type *s, fst_bytes row, void *to);

/* Copy @bytes, with a NUL behind them. The copy is valid until the context stops. */
fst_bytes action_keep_bytes(fst_context *sc, fst_bytes bytes);

/* Combines all rows: @take adds the rows of a partition to a value of @made, @combine adds the partitions' values. */
struct reduce_plan {
        fst_fn take, combine;
        fst_type made;
        const struct reduce_value *zero; /* NULL: none; without rows the result is -ENODATA */
};

/* Run a plan and write the value to @result. Returns 0, or a negative status with @error. */
int action_reduce(fst_rdd *rdd, const struct reduce_plan *plan, fst_variable result, fst_site site,
                  struct fst_error *error);

/*
 * Parse a constant of the application. *@value borrows from it. Returns 0, or -EINVAL with @error if it is too large.
 */
int action_constant(fst_constant constant, fst_type *type, struct reduce_value *value, struct fst_error *error);

/* The number of partitions that take reads in each round (spark.rdd.limit.*). */
struct take_rules {
        int64_t first, scale_up;
};
int action_take_rules(fst_rdd *rdd, struct take_rules *rules, struct fst_error *error);

/* Returns the number of partitions to read next, after @seen of @partitions had @found of the @wanted rows. */
int action_take_round(const struct take_rules *rules, int seen, int partitions, int64_t found, int64_t wanted);

/* Actions that take one job, for callers that run it themselves: count, and calling functions for their effects. */
struct count_job {
        struct action action;
        int64_t total;
};
struct count_job count_job_of(const fst_rdd *rdd);

struct foreach_action;
int foreach_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, struct fst_error *error);
int foreach_partition_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, fst_site site,
                                  struct fst_error *error);

/* The merge of an action without a result. */
int action_no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error);
