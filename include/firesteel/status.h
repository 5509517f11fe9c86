/*
 * The progress of jobs and stages, for a progress display of your own, and for ids to cancel by (context.h).
 *
 * The values may be a moment old. The latest jobs and stages that have ended are included. Any thread of the driver may
 * call these functions.
 */
#pragma once

#include <firesteel/context.h>

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

/*
 * List the ids of the jobs of @group (NULL: of no group), running or not; of the running jobs; of the running stages;
 * of the stages of a job. Each writes up to @max ids to @ids and returns the number of ids. -ENOENT for an unknown
 * job.
 */
FST_API int fst_jobs_of_group(fst_context *sc, const char *group, int *ids, size_t max);
FST_API int fst_active_jobs(fst_context *sc, int *ids, size_t max);
FST_API int fst_active_stages(fst_context *sc, int *ids, size_t max);
FST_API int fst_stages_of_job(fst_context *sc, int job, int *ids, size_t max);

enum fst_job_state { FST_JOB_RUNNING, FST_JOB_SUCCEEDED, FST_JOB_FAILED };

struct fst_job_info {
        int id;
        enum fst_job_state state;
        int stages, skipped_stages; /* skipped stages are among the stages */
        int tasks, completed_tasks;
};

/* The latest attempt of a stage. submission_ms is 0 for a stage that was not submitted. */
struct fst_stage_info {
        int id, attempt;
        int64_t submission_ms; /* since 1970 */
        int tasks, active_tasks, completed_tasks, failed_tasks;
};

/*
 * bool fst_get_job_info(fst_context *sc, int job, struct fst_job_info *info)
 * bool fst_get_stage_info(fst_context *sc, int stage, struct fst_stage_info *info)
 *
 * Read the state of a job or stage. Returns false, and leaves @info unchanged, if the job or stage does not exist or
 * ended long ago.
 */
#define fst_get_job_info(sc, job, info)                                                                                \
        fst_get_job_info_at((sc), (job), FST_POINTER_TO(struct fst_job_info, info, fst_refuse_job_info),               \
                            sizeof(*(info)))
#define fst_get_stage_info(sc, stage, info)                                                                            \
        fst_get_stage_info_at((sc), (stage), FST_POINTER_TO(struct fst_stage_info, info, fst_refuse_stage_info),       \
                              sizeof(*(info)))
FST_API bool fst_get_job_info_at(fst_context *sc, int job, struct fst_job_info *info, size_t size);
FST_API bool fst_get_stage_info_at(fst_context *sc, int stage, struct fst_stage_info *info, size_t size);
FST_REFUSE(struct fst_job_info *, fst_refuse_job_info,
           "fst_get_job_info writes to a struct fst_job_info: see firesteel/status.h");
FST_REFUSE(struct fst_stage_info *, fst_refuse_stage_info,
           "fst_get_stage_info writes to a struct fst_stage_info: see firesteel/status.h");

FST_END_DECLS
