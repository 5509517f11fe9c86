/*
 * What an application's jobs and stages do at the moment: for progress that a program shows itself, and for ids by
 * which to cancel (context.h).
 *
 * Answers are those of a moment ago. The latest jobs and stages that have ended are known, too. All of it may be asked
 * by any thread of the driver.
 */
#pragma once

#include <firesteel/context.h>

/*
 * The ids of jobs of @group (NULL: of none), running or not; of jobs that run; of the stages that do; of the stages
 * that a job has. Up to @most of them into @ids; how many there are. -ENOENT for a job that is not known.
 */
FST_API int fst_jobs_of_group(fst_context *sc, const char *group, int *ids, int most);
FST_API int fst_active_jobs(fst_context *sc, int *ids, int most);
FST_API int fst_active_stages(fst_context *sc, int *ids, int most);
FST_API int fst_stages_of_job(fst_context *sc, int job, int *ids, int most);

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

/* false: there is no such job, or stage, or it ended long ago. */
FST_API bool fst_get_job_info(fst_context *sc, int job, struct fst_job_info *info);
FST_API bool fst_get_stage_info(fst_context *sc, int stage, struct fst_stage_info *info);
