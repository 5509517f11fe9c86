/*
 * See resume.h: batches of tasks that an earlier driver launched and that executors still run or hold (holdings.h).
 *
 * When a job that the journal names is submitted, its task sets adopt those that they need: the same job, signature and
 * shuffle, and tasks that have neither a result nor another attempt. Others of the job are abandoned. So are those whose
 * task was allowed to commit, because what became of that is found out without it (resume_outputs.c).
 */
#include "driver/resume/resume_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/context.h"
#include "driver/job_runner_internal.h"
#include "sched/job.h"
#include "sched/stage.h"
#include "sched/tasks/task_set.h"

uint64_t resume_job_number(const struct resume_job *job, uint64_t *signature)
{
        const uint64_t *whole = job->record.signature.whole;
        *signature = whole[0];
        return job->open && (whole[0] || whole[1]) ? job->record.job + 1 : 0;
}

/* An earlier driver allowed a task of the batch to commit: what became of that is found out without the task. */
static bool resume_may_have_committed(const struct past_job *past, const struct held_batch *run)
{
        for (size_t i = 0; i < past->commits.len; i++) {
                const int64_t id = past->commits.data[i].task_id;
                if (id >= run->first_id && id < run->first_id + run->n)
                        return true;
        }
        return false;
}

/* The task set of the job whose tasks the batch has; NULL: there is none. */
static struct task_set *resume_find_set(const struct sched *sched, const struct job *job, const struct held_batch *run)
{
        for (struct task_set *set = NULL; (set = sched_next_task_set(sched, set));) {
                const bool is_result = stage_is_result(set->stage);
                if (set->job == job && !set->zombie && is_result == (run->shuffle < 0) &&
                    (is_result || set->stage->shuffle->shuffle_id == run->shuffle))
                        return set;
        }
        return NULL;
}

static bool resume_adopt_run(const struct resume_job *job, const struct job *started, struct job_runner *runner,
                             struct held_batch *run)
{
        uint64_t signature;
        if (!started || started->ended || !job->past || !resume_job_number(job, &signature) ||
            run->signature != signature || resume_may_have_committed(job->past, run))
                return false;
        struct task_set *set = resume_find_set(runner->sched, started, run);
        const struct sched_adoption adoption = {.executor = run->executor,
                                                .first_id = run->first_id,
                                                .outputs = run->outputs,
                                                .n = run->n,
                                                .takes_core = run->takes_core};
        runner->adopting = run;
        const bool adopted = set && sched_adopt_run(runner->sched, set, &adoption, now_ns());
        runner->adopting = NULL;
        return adopted;
}

/* The batches of @job, or, if it is NULL, of all jobs. @started: that job, or NULL. */
static void resume_settle_runs_of(struct resume *r, const struct resume_job *job, const struct job *started,
                                  struct job_runner *runner)
{
        struct scheduler_backend *backend = runner->backend;
        struct held_batch run;
        uint64_t signature;
        int adopted = 0, abandoned = 0;
        const uint64_t number = job ? resume_job_number(job, &signature) : 0;
        while ((!job || number) && holdings_take_run(&r->holdings, number, &run)) {
                const bool is_adopted = job && resume_adopt_run(job, started, runner, &run);
                adopted += is_adopted ? run.n : 0;
                abandoned += is_adopted ? 0 : run.n;
                backend->class->settle_run(backend, &run, is_adopted);
                free(run.outputs);
        }
        if (adopted || abandoned)
                log_info(RESUME_LOG, "%d tasks that an earlier driver launched are adopted, %d are not needed", adopted,
                         abandoned);
}

void resume_job_launched(struct resume *r, const struct resume_job *job, const struct job *started,
                         struct job_runner *runner)
{
        if (!r)
                return;
        resume_settle_runs_of(r, job, started, runner);
        if (started && !started->ended && r->holdings.runs.len && runner->backend->class->job_submitted)
                runner->backend->class->job_submitted(runner->backend);
}

void resume_abandon_runs(struct resume *r, struct job_runner *runner)
{
        resume_settle_runs_of(r, NULL, NULL, runner);
}

/* ------------------------------------------------------------- the backend's reports (driver/backend/scheduler_backend.h) */

bool job_runner_hold_run(struct job_runner *runner, const struct held_batch *run)
{
        return holdings_add_run(&runner->sc->resume->holdings, run);
}

void job_runner_held_run_ended(struct job_runner *runner, int64_t first_id)
{
        holdings_end_run(&runner->sc->resume->holdings, first_id);
}

void job_runner_abandon_runs(struct job_runner *runner)
{
        resume_abandon_runs(runner->sc->resume, runner);
}
