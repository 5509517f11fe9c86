/*
 * The application's queries about its jobs and stages while they run (firesteel/status.h), answered from
 * driver/events/app_status.h.
 */
#include <firesteel/status.h>

#include "base/mem.h"
#include "base/public_struct.h"
#include "driver/events/app_status.h"
#include "driver/context.h"
#include "driver/context_handles.h"

FST_API int fst_jobs_of_group(fst_context *sc, const char *group, int *ids, size_t max)
{
        sc = context_given(sc, rdd_site("jobs_of_group"));
        if (max > 0 && context_missing(ids, "jobs_of_group", "an array of ids"))
                return -EINVAL;
        return sc->app_status ? (int)app_status_jobs_of_group(sc->app_status, group, ids, max) : 0;
}

FST_API int fst_active_jobs(fst_context *sc, int *ids, size_t max)
{
        sc = context_given(sc, rdd_site("active_jobs"));
        if (max > 0 && context_missing(ids, "active_jobs", "an array of ids"))
                return -EINVAL;
        return sc->app_status ? (int)app_status_active_jobs(sc->app_status, ids, max) : 0;
}

FST_API int fst_stages_of_job(fst_context *sc, int job, int *ids, size_t max)
{
        sc = context_given(sc, rdd_site("stages_of_job"));
        if (max > 0 && context_missing(ids, "stages_of_job", "an array of ids"))
                return -EINVAL;
        return sc->app_status ? app_status_stages_of_job(sc->app_status, job, ids, max) : -ENOENT;
}

#define MAX_ACTIVE 1000

FST_API int fst_active_stages(fst_context *sc, int *ids, size_t max)
{
        sc = context_given(sc, rdd_site("active_stages"));
        if (max > 0 && context_missing(ids, "active_stages", "an array of ids"))
                return -EINVAL;
        if (!sc->app_status)
                return 0;
        _cleanup_free_ struct stage_status *stages = new_array(struct stage_status, MAX_ACTIVE);
        size_t n = app_status_active_stages(sc->app_status, stages, MAX_ACTIVE);
        for (size_t i = 0; i < n && i < max; i++)
                ids[i] = stages[i].id;
        return (int)n;
}

FST_API bool fst_get_job_info_at(fst_context *sc, int job, struct fst_job_info *info, size_t size)
{
        sc = context_given(sc, rdd_site("job_info"));
        if (context_missing(info, "job_info", "a place for the answer"))
                return false;
        static const enum fst_job_state states[] = {
                [JOB_RUNNING] = FST_JOB_RUNNING, [JOB_SUCCEEDED] = FST_JOB_SUCCEEDED, [JOB_FAILED] = FST_JOB_FAILED};
        struct job_status status;
        if (!sc->app_status || !app_status_job(sc->app_status, job, &status))
                return false;
        const struct fst_job_info present = {.id = job,
                                             .state = states[status.state],
                                             .stages = status.stages,
                                             .skipped_stages = status.skipped_stages,
                                             .tasks = (int)status.tasks,
                                             .completed_tasks = (int)status.completed_tasks};
        public_struct_copy(info, size, &present, sizeof(present));
        return true;
}

FST_API bool fst_get_stage_info_at(fst_context *sc, int stage, struct fst_stage_info *info, size_t size)
{
        sc = context_given(sc, rdd_site("stage_info"));
        if (context_missing(info, "stage_info", "a place for the answer"))
                return false;
        struct stage_status status, latest;
        if (!sc->app_status || !app_status_stage(sc->app_status, stage, 0, &latest))
                return false;
        for (int attempt = 1; app_status_stage(sc->app_status, stage, attempt, &status); attempt++)
                latest = status;
        const struct fst_stage_info present = {.id = stage,
                                               .attempt = latest.attempt,
                                               .submission_ms = latest.submission_ms,
                                               .tasks = latest.tasks,
                                               .active_tasks = (int)latest.active,
                                               .completed_tasks = (int)latest.completed,
                                               .failed_tasks = (int)latest.failed};
        public_struct_copy(info, size, &present, sizeof(present));
        return true;
}
