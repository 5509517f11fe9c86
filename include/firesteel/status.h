/*
 * What an application's jobs and stages do at the moment: for progress that a program shows itself, and for ids by
 * which to cancel (context.h).
 *
 * Answers are those of a moment ago. The latest jobs and stages that have ended are known, too. All of it may be asked
 * by any thread of the driver.
 */
#pragma once

#include <firesteel/context.h>

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

/*
 * The ids of jobs of @group (NULL: of none), running or not; of jobs that run; of the stages that do; of the stages
 * that a job has. Up to @max of them into @ids; how many there are. -ENOENT for a job that is not known.
 */
FST_API int fst_jobs_of_group(fst_context *sc, const char *group, int *ids, size_t max);
FST_API int fst_active_jobs(fst_context *sc, int *ids, size_t max);
FST_API int fst_active_stages(fst_context *sc, int *ids, size_t max);
FST_API int fst_stages_of_job(fst_context *sc, int job, int *ids, size_t max);

enum fst_job_state { FST_JOB_RUNNING, FST_JOB_SUCCEEDED, FST_JOB_FAILED };

struct fst_job_info {
        int id;
        enum fst_job_state state;
        int stages, skipped_stages; /* those that are skipped are among the stages */
        int tasks, completed_tasks;
};

/* Of the attempt that was submitted last; a stage that has not been has the time 0. */
struct fst_stage_info {
        int id, attempt;
        int64_t submission_ms; /* since 1970 */
        int tasks, active_tasks, completed_tasks, failed_tasks;
};

/*
 * bool fst_get_job_info(fst_context *sc, int job, struct fst_job_info *info)
 * bool fst_get_stage_info(fst_context *sc, int stage, struct fst_stage_info *info)
 *
 * Reads the present state of a job or stage. Returns false, and leaves @info as it was, if there is no such job or
 * stage, or if it ended long ago.
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
