/*
 * Commits in a simulation: calls the commit coordinator beside the scheduler, as a driver does.
 *
 * A task of a save does its work, asks, and if authorized commits a moment later. In between its executor may die, or
 * it may be killed or fail. A commit is valid until the driver learns that the attempt did not succeed, and then
 * another attempt may replace it. So two valid commits of one partition are a fault of the coordinator or of its calls.
 * If a repeated stage starts over (barrier, indeterminate), its attempts may replace earlier commits too, but not those
 * of a later attempt.
 *
 * Saves have each partition once, because with two of the same partition either one may commit.
 */
#include "sched/simulator/simulation.h"

static struct sim_job *save_of(struct sim *sim, const struct sim_set *s)
{
        return s->save >= 0 ? &sim->jobs.data[s->save] : NULL;
}

void sim_commits_begin(struct sim *sim, struct sim_set *s, const struct stage *stage)
{
        s->save = stage_is_result(stage) && sim->jobs.data[stage->job->id].save ? stage->job->id : -1;
        if (s->save < 0)
                return;
        if (stage->barrier || stage->indeterminate)
                commit_coordinator_stage_end(sim->commits, stage->id);
        sim_check(sim, commit_coordinator_stage_start(sim->commits, stage->id, stage->lineage->partitions),
                  "stage %d had a different number of partitions before", stage->id);
}

void sim_commits_stage_removed(struct sim *sim, const struct stage *stage)
{
        commit_coordinator_stage_end(sim->commits, stage->id);
}

/* Commits of earlier stage attempts do not count, because the stage has started over. */
static int starts_over(const struct task_set *set)
{
        return set->barrier || set->stage->indeterminate ? set->attempt : 0;
}

static void simulator_commits_commit(struct sim *sim, const struct sim_set *s, int64_t task_id)
{
        struct sim_job *j = save_of(sim, s);
        struct task_attempt_info info;

        sim->report->commits++;
        sim->tasks.data[task_id].commit = SIM_COMMIT_DONE;
        if (!sim_check(sim, sched_task(sim->s, task_id, &info), "unknown task %lld commits", (long long)task_id))
                return;
        sim_check(sim, j->committed[info.partition] < 0 || j->commit_attempts[info.partition] < starts_over(info.set),
                  "task %lld commits partition %d of job %d, which task %lld has committed already", (long long)task_id,
                  info.partition, s->save, (long long)j->committed[info.partition]);
        j->committed[info.partition] = task_id;
        j->commit_attempts[info.partition] = info.set->attempt;
        sim_journal_committed(sim, s->save, info.partition);
}

bool sim_commits_ask(struct sim *sim, int index, int64_t task_id)
{
        const struct sim_run *run = &sim->runs.data[index];
        struct sim_task *task = &sim->tasks.data[task_id];
        bool twice;

        if (run->set->save < 0 || task->kill_came || task->outcome != TASK_SUCCEEDED)
                return false;
        if (task->commit == SIM_COMMIT_ALLOWED && !sim_mishap(sim, sim->o.random ? 0.02 : 0))
                simulator_commits_commit(sim, run->set, task_id);
        if (task->commit != SIM_COMMIT_NONE || sim_mishap(sim, sim->o.task_failures))
                return false;
        int64_t delay = sim_travel(sim, &twice);

        task->commit = SIM_COMMIT_ASKED;
        sim_at(sim, MAX(delay, 0), delay < 0 ? SIM_DIE : SIM_ASK, delay < 0 ? run->executor : 0,
               delay < 0 ? 0 : task_id);
        if (twice)
                sim_at(sim, sim_travel(sim, NULL) + 1, SIM_ASK, 0, task_id);
        return true;
}

void sim_commits_on_ask(struct sim *sim, int64_t task_id)
{
        struct task_attempt_info info;
        may_commit_fn *may_commit = sim->o.may_commit ? sim->o.may_commit : commit_coordinator_may_commit;
        bool yes = sched_task(sim->s, task_id, &info) &&
                   !((info.set->barrier || info.set->stage->indeterminate) && info.set->zombie) &&
                   may_commit(sim->commits, info.set->stage_id, info.set->attempt, info.partition, info.attempt);
        int run = sim->tasks.data[task_id].run;
        int64_t delay = sim_travel(sim, NULL);

        if (yes)
                sim_journal_allowed(sim, info.set->stage->job->id, info.partition);

        if (delay >= 0)
                sim_at(sim, delay, SIM_ANSWER, yes, task_id);
        else if (run >= 0)
                sim_at(sim, 0, SIM_DIE, sim->runs.data[run].executor, 0);
}

void sim_commits_on_answer(struct sim *sim, int64_t task_id, bool yes)
{
        struct sim_task *task = &sim->tasks.data[task_id];
        const struct sim_run *run = task->run >= 0 ? &sim->runs.data[task->run] : NULL;

        if (!run || !sim->executors.data[run->executor].works || run->first_id + run->at != task_id ||
            task->commit != SIM_COMMIT_ASKED || task->kill_came)
                return;
        task->commit = yes ? SIM_COMMIT_ALLOWED : SIM_COMMIT_DENIED;
        sim->report->commits_denied += !yes;
        if (sim_mishap(sim, sim->o.random ? 0.02 : 0))
                sim_at(sim, 0, SIM_DIE, run->executor, 0);
        sim_at(sim, sim_spread(sim, sim->o.task_ns / 10), SIM_STEP, task->run, run->generation);
}

void sim_commits_failed(struct sim *sim, int64_t task_id, enum task_state state)
{
        struct task_attempt_info info;

        if (state == TASK_SUCCEEDED || state == TASK_COMMIT_DENIED || !sched_task(sim->s, task_id, &info))
                return;
        struct sim_job *j = save_of(sim, info.set->user);

        if (!j)
                return;
        commit_coordinator_failed(sim->commits, info.set->stage_id, info.set->attempt, info.partition, info.attempt);
        if (j->committed[info.partition] != task_id)
                return;
        j->committed[info.partition] = -1;
        sim->report->commits_void++;
}

void sim_commits_accepted(struct sim *sim, struct sim_job *job, int output, int64_t task_id)
{
        sim_check(sim, !job->save || job->committed[output] == task_id,
                  "output %d of task %lld is accepted, but task %lld has committed it", output, (long long)task_id,
                  (long long)job->committed[output]);
}

void sim_commits_reset(struct sim_job *job)
{
        for (int i = 0; job->save && i < job->n; i++)
                job->committed[i] = -1;
}

void sim_commits_check_job(struct sim *sim, const struct sim_job *job, int id)
{
        for (int i = 0; job->save && i < job->n; i++)
                sim_check(sim, job->committed[i] >= 0 && job->accepted[i],
                          "job %d succeeded, but partition %d is not committed", id, i);
}
