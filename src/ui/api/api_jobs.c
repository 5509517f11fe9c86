/* Jobs; see api.h. */
#include "ui/api/api_internal.h"

static const char *const api_job_states[] = {"RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"};

/* Spark has no reason of a failed job: only a request with diagnosis=true gets it. */
static void api_put_job(struct json_out *j, const struct status_job *job, bool with_reason)
{
        json_begin(j);
        json_int(j, "jobId", job->id);
        json_text(j, "name", job->name ? job->name : "");
        if (job->description)
                json_text(j, "description", job->description);
        if (job->submission_ms > 0)
                api_put_date(j, "submissionTime", job->submission_ms);
        if (job->completion_ms > 0)
                api_put_date(j, "completionTime", job->completion_ms);
        json_list(j, "stageIds");
        for (size_t i = 0; i < job->stages.len; i++)
                json_int(j, NULL, job->stages.data[i].id);
        json_list_end(j);
        if (job->group)
                json_text(j, "jobGroup", job->group);
        json_list(j, "jobTags");
        for (size_t i = 0; i < job->tags.len; i++)
                json_text(j, NULL, job->tags.data[i]);
        json_list_end(j);
        json_text(j, "status", api_job_states[job->state]);
        json_int(j, "numTasks", job->tasks);
        json_int(j, "numActiveTasks", job->active_tasks);
        json_int(j, "numCompletedTasks", job->completed_tasks);
        json_int(j, "numSkippedTasks", job->skipped_tasks);
        json_int(j, "numFailedTasks", job->failed_tasks);
        json_int(j, "numKilledTasks", job->killed_tasks);
        json_int(j, "numCompletedIndices", job->completed_indices);
        json_int(j, "numActiveStages", job->active_stages);
        json_int(j, "numCompletedStages", job->completed_stages);
        json_int(j, "numSkippedStages", job->skipped_stages);
        json_int(j, "numFailedStages", job->failed_stages);
        api_put_killed(j, &job->killed);
        if (with_reason && job->failure)
                json_text(j, "failureReason", job->failure);
        json_end(j);
}

static int api_job_compare(const void *a, const void *b)
{
        const struct status_job *const *x = a, *const *y = b;
        return ((*x)->id < (*y)->id) - ((*x)->id > (*y)->id);
}

/* Writes the list of jobs, the newest first. Jobs that are removed meanwhile are left out. */
struct api_job_steps {
        struct api_steps steps;
        uint32_t states; /* 0: all */
        bool with_reason;
        int64_t before; /* the id of the last job that was written */
};

static int api_job_steps_step(struct api_steps *steps, struct api_call *c)
{
        struct api_job_steps *w = container_of(steps, struct api_job_steps, steps);
        size_t n = 0, at = 0;
        const struct status_job **jobs = new_array(const struct status_job *, c->s->jobs.len);
        for (size_t i = 0; i < c->s->jobs.len; i++) {
                const struct status_job *job = c->s->jobs.data[i];
                if (job->id < w->before && (!w->states || w->states >> job->state & 1))
                        jobs[n++] = job;
        }
        qsort(jobs, n, sizeof(*jobs), api_job_compare);
        for (; at < n && !api_piece_is_full(c); at++) {
                api_put_job(&c->json, jobs[at], w->with_reason);
                w->before = jobs[at]->id;
        }
        free(jobs);
        if (at < n)
                return 1;
        json_list_end(&c->json);
        return 0;
}

static void api_job_steps_free(struct api_steps *steps)
{
        free(container_of(steps, struct api_job_steps, steps));
}

static void api_serve_job_list(struct api_call *c)
{
        uint32_t states;
        if (!api_get_set(c, "status", api_job_states, ARRAY_SIZE(api_job_states), &states))
                return;
        struct api_job_steps *w = new0(struct api_job_steps);
        *w = (struct api_job_steps){.steps = {.step = api_job_steps_step, .free = api_job_steps_free},
                                    .states = states,
                                    .with_reason = api_get_flag(c, "diagnosis", false),
                                    .before = INT64_MAX};
        json_list(&c->json, NULL);
        api_run_steps(c, &w->steps);
}

void api_serve_jobs(struct api_call *c, const char *rest)
{
        int id;
        if (!*rest)
                return api_serve_job_list(c);
        int r = api_path_number(&rest, &id);
        if (r < 0)
                return api_fail_parameter(c);
        if (r == 0 || *rest)
                return api_fail_path(c);
        const struct status_job *job = status_find_job(c->s, id);
        if (job)
                api_put_job(&c->json, job, api_get_flag(c, "diagnosis", false));
        else
                api_fail(c, 404, "unknown job: %d", id);
}
