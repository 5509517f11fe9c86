/*
 * The scheduler's owner in a simulation. It checks each decision against the simulation's own state of executors,
 * batches, tasks and map outputs. It reads the scheduler's state only where a driver would act on it.
 *
 * After the first violation the simulation continues to the end of the call, so every check leaves a state that the
 * next check can use.
 */
#include "sched/simulator/simulation.h"

#include "base/buf.h"

#include <stdarg.h>

void sim_broken(struct sim *sim, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        va_list args;

        if (sim->broken)
                return;
        sim->broken = true;
        va_start(args, format);
        buf_vprintf(&text, format, args);
        va_end(args);
        error_set(sim->error, FST_SIMULATOR_E_BROKEN, "seed %llu, at %.6f s: %s", (unsigned long long)sim->o.seed,
                  (double)sim->now / 1e9, buf_text(&text));
}

static struct sim_task *simulator_invariants_task_at(struct sim *sim, int64_t id)
{
        return id >= 0 && (size_t)id < sim->tasks.len ? &sim->tasks.data[id] : NULL;
}

static struct sim_job *job_at(struct sim *sim, const struct job *job)
{
        return job->id >= 0 && job->id < sim->submitted ? &sim->jobs.data[job->id] : NULL;
}

static struct sim_output *output_at(struct sim *sim, uint64_t handle)
{
        handle &= ~MAP_OUTPUT_STORED;
        return handle > 0 && handle <= sim->outputs.len ? &sim->outputs.data[handle - 1] : NULL;
}

/* -------------------------------------------------------------------------------------------------- jobs */

static void simulator_invariants_job_started(void *owner, struct job *job)
{
        struct sim *sim = owner;
        struct sim_job *j = job_at(sim, job);

        if (!sim_check(sim, j && !j->started, "job %d started twice or was never submitted", job->id))
                return;
        j->started = true;
        j->n = job->n;
        j->accepted = new_array(uint8_t, (size_t)job->n + 1);
        if (j->save) {
                j->committed = new_array(int64_t, (size_t)job->n + 1);
                j->commit_attempts = new_array(int32_t, (size_t)job->n + 1);
                sim_commits_reset(j);
        }
        sim_journal_started(sim, j, job);
}

static void simulator_invariants_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct sim *sim = owner;
        struct sim_job *j = job_at(sim, job);
        int missing = 0;

        if (!sim_check(sim, j && j->started && !j->ended, "job %d ended twice or never started", job->id))
                return;
        j->ended = true;
        sim->ended++;
        sim_journal_job_ended(sim);
        sim->report->jobs[result]++;
        sim->report->exhausted += message && strstr(message, "maximum allowable");
        for (int i = 0; i < j->n; i++)
                missing += !j->accepted[i];
        sim_check(sim, result != JOB_SUCCEEDED || missing == 0, "job %d succeeded without %d of its %d outputs",
                  job->id, missing, j->n);
        if (result == JOB_SUCCEEDED)
                sim_commits_check_job(sim, j, job->id);
        sim_check(sim, result == JOB_SUCCEEDED || (message && *message), "job %d failed without a reason", job->id);
}

static void simulator_invariants_job_removed(void *owner, struct job *job)
{
        struct sim *sim = owner;
        struct sim_job *j = job_at(sim, job);

        if (sim_check(sim, j && !j->removed && (j->ended || sim->last), "job %d is removed too early or twice",
                      job->id))
                j->removed = true;
}

/* ------------------------------------------------------------------------------------------------ stages */

typedef VEC(const struct lineage *) lineage_list;

static void push_once(lineage_list *list, const struct lineage *rdd)
{
        for (size_t i = 0; i < list->len; i++)
                if (list->data[i] == rdd)
                        return;
        vec_push(list, rdd);
}

/* Returns whether @stage reads @parent's outputs, and not a cached RDD in between. */
static bool simulator_invariants_reads(const struct stage *stage, const struct stage *parent)
{
        lineage_list stack = {0};
        bool found = false;

        vec_push(&stack, stage->lineage);
        for (size_t i = 0; i < stack.len && !found; i++) {
                const struct lineage *at = stack.data[i];

                if (at->cached && at->cached(at, 0))
                        continue;
                for (int d = 0; d < at->n_deps && !found; d++)
                        if (at->deps[d].kind == LINEAGE_SHUFFLE)
                                found = at->deps[d].shuffle_id == parent->shuffle->shuffle_id;
                        else
                                push_once(&stack, at->deps[d].parent);
        }
        vec_deinit(&stack);
        return found;
}

/* Checks the location and the writer of each input of the attempt against the scheduler's. */
static void read_inputs(struct sim *sim, struct sim_set *set, const struct stage *parent)
{
        const struct map_outputs *from = parent->outputs;
        struct sim_input *input = &set->inputs[set->n_inputs++];

        input->shuffle_id = from->shuffle_id;
        input->n = from->n;
        input->executors = new_array(int32_t, (size_t)from->n + 1);
        for (int m = 0; m < from->n; m++) {
                const struct map_output *at = &from->at[m];
                struct sim_output *output = output_at(sim, at->handle);

                input->executors[m] = at->executor;
                if (!sim_check(sim, output, "a stage begins that reads the missing output %d of shuffle %d", m,
                               from->shuffle_id))
                        return;
                sim_check(sim,
                          output->state == OUTPUT_COUNTED && output->executor == at->executor && output->map == m &&
                                  output->shuffle == from->shuffle_id,
                          "output %d of shuffle %d on executor %d is really output %d of shuffle %d on executor %d%s",
                          m, from->shuffle_id, at->executor, output->map, output->shuffle, output->executor,
                          output->state == OUTPUT_COUNTED ? "" : ", released");
                if (set->dead_input < 0 && !sim_outputs_are_stored(sim) &&
                    !sim->executors.data[output->executor].works) {
                        set->dead_input = set->n_inputs - 1; /* it died, but the driver does not know yet */
                        set->dead_map = m;
                }
        }
}

static void simulator_invariants_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct sim *sim = owner;
        struct sim_set *s = new0(struct sim_set);

        set->user = s;
        s->result = stage_is_result(stage);
        s->deaths_seen = sim->deaths.len;
        s->dead_input = -1;
        s->stage = stage->id;
        s->attempt = set->attempt;
        s->n = set->n;
        s->barrier = set->barrier;
        s->profile = sim_profile_of_stage(sim, stage->lineage);
        s->submitted = sim->now;
        s->began = sim->report->events;
        if (sim->celeborn && !s->result)
                sim_celeborn_begin(sim, s, stage);
        sim_commits_begin(sim, s, stage);
        sim_places_begin(sim, s, set);
        if (sim->o.messages)
                sim->o.messages->stage_submitted(sim->o.messages->owner, stage, set);
        s->inputs = new_array(struct sim_input, (size_t)stage->n_parents + 1);
        sim->report->stages++;
        sim->report->stages_again += set->attempt > 0;
        sim_check(sim, set->n > 0 && stage->jobs.len > 0, "stage %s begins without tasks or without a job", set->id);
        for (int i = 0; i < stage->n_parents; i++)
                if (simulator_invariants_reads(stage, stage->parents[i]))
                        read_inputs(sim, s, stage->parents[i]);
        for (int i = 0; i < s->n_inputs && sim->celeborn && !sim->broken; i++)
                sim_celeborn_maps_ended(sim, &s->inputs[i], dag_shuffle(sim->s, s->inputs[i].shuffle_id)->outputs);
        for (int i = 0; i < set->n && !s->result; i++)
                sim_check(sim, !map_outputs_has(stage->outputs, task_set_output(set, i)),
                          "stage %s computes the existing output %d", set->id, task_set_output(set, i));
}

static void simulator_invariants_stage_completed(void *owner, struct stage *stage, const char *failure)
{
}

static void simulator_invariants_task_set_removed(void *owner, struct task_set *set)
{
        struct sim *sim = owner;
        struct sim_set *s = steal(set->user);

        sim_check(sim, !set->runs, "task set %s is removed while it runs", set->id);
        if (sim->o.messages)
                sim->o.messages->task_set_removed(sim->o.messages->owner, set);
        if (!s)
                return;
        for (int i = 0; i < s->n_inputs; i++)
                free(s->inputs[i].executors);
        free(s->inputs);
        if (sim->gang == s)
                sim->gang = NULL;
        sim_places_end(s);
        free(s);
}

static void simulator_invariants_stage_removed(void *owner, struct stage *stage)
{
        struct sim *sim = owner;

        if (sim->commits)
                sim_commits_stage_removed(sim, stage);
        sim_check(sim, stage->jobs.len == 0 || sim->last, "stage %d is removed while a job needs it", stage->id);
}

/* ------------------------------------------------------------------------------------------------- tasks */

static int simulator_invariants_take_run(struct sim *sim)
{
        int run = sim->spare_run;

        if (run >= 0) {
                sim->spare_run = sim->runs.data[run].next;
                return run;
        }
        vec_push(&sim->runs, (struct sim_run){0});
        return (int)sim->runs.len - 1;
}

static void check_launch(struct sim *sim, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        const struct sim_executor *e = &sim->executors.data[executor];
        const bool is_adopted = run[0].task_id < sim->first_id;

        sim_check(sim, e->known, "stage %s runs on executor %d, which is lost", set->id, executor);
        sim_check(sim, e->enabled || is_adopted, "stage %s runs on executor %d, which is disabled", set->id, executor);
        sim_check(sim, !set->zombie, "stage %s is a zombie and launches task %d", set->id, run[0].index);
        if (set->user)
                sim_profiles_check(sim, e, set->user, run);
        for (int i = 0; i < n; i++) {
                const struct task_slot *slot = &set->slots[run[i].index];
                const struct stage *stage = set->stage;

                sim_check(sim, is_adopted || run[i].task_id == (int64_t)sim->tasks.len + i,
                          "task id %lld comes after %zu", (long long)run[i].task_id, sim->tasks.len + (size_t)i);
                sim_check(sim, n == 1 || run[i].attempt == 0, "a retry of task %d of stage %s is launched in a batch",
                          run[i].index, set->id);
                sim_check(sim, !slot->done && slot->copies == 1 + run[i].speculative,
                          "task %d of stage %s is launched, but is %s", run[i].index, set->id,
                          slot->done ? "done" : "running");
                sim_check(sim, !stage_is_result(stage) || !job_at(sim, stage->job)->accepted[run[i].output],
                          "task %d of stage %s computes output %d of job %d again", run[i].index, set->id,
                          run[i].output, stage->job->id);
                sim->report->retries += run[i].attempt > 0;
        }
}

static void simulator_invariants_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run,
                                        int n)
{
        struct sim *sim = owner;

        if (!sim_check(sim, executor >= 0 && (size_t)executor < sim->executors.len && n > 0 && n <= SCHED_MAX_RUN,
                       "stage %s launches %d tasks on the unknown executor %d", set->id, n, executor))
                return;
        const bool is_adopted = run[0].task_id < sim->first_id;

        check_launch(sim, executor, set, run, n);
        if (!is_adopted)
                sim_places_check(sim, executor, set, run, n);
        int index = simulator_invariants_take_run(sim);
        const struct sim_set *written = set->user;
        struct sim_run *r = &sim->runs.data[index];
        struct sim_executor *e = &sim->executors.data[executor];

        *r = (struct sim_run){.set = set->user,
                              .first_id = run[0].task_id,
                              .executor = executor,
                              .n = n,
                              .left = n,
                              .next = e->first,
                              .prev = -1,
                              .attempt = is_adopted ? sim->adopting->attempt : written->attempt_written,
                              .generation = r->generation + 1};
        if (e->first >= 0)
                sim->runs.data[e->first].prev = index;
        e->first = index;
        sim_profiles_take(sim, e, r, run);
        for (int i = 0; i < n && is_adopted; i++)
                sim->tasks.data[run[i].task_id] = (struct sim_task){.run = index};
        for (int i = 0; i < n && !is_adopted; i++)
                vec_push(&sim->tasks, (struct sim_task){.run = index});
        if (sim->o.messages)
                sim->o.messages->launch(sim->o.messages->owner, executor, set, run, n);
        sim->report->placements += n;
        sim->report->runs++;
        sim->report->long_runs += n > 1;
        sim_send_run(sim, index);
}

void sim_task_ended(struct sim *sim, int64_t task_id)
{
        struct sim_task *task = simulator_invariants_task_at(sim, task_id);
        int index = task->run;
        struct sim_run *run = &sim->runs.data[index];
        struct sim_executor *e = &sim->executors.data[run->executor];

        task->run = -1;
        if (--run->left > 0)
                return;
        sim_profiles_give(e, run);
        *(run->prev >= 0 ? &sim->runs.data[run->prev].next : &e->first) = run->next;
        if (run->next >= 0)
                sim->runs.data[run->next].prev = run->prev;
        run->generation++;
        run->next = sim->spare_run;
        sim->spare_run = index;
}

static void simulator_invariants_kill_task(void *owner, int executor, int64_t task_id, bool interrupt,
                                           const char *reason)
{
        struct sim *sim = owner;
        struct sim_task *task = simulator_invariants_task_at(sim, task_id);

        if (task && task->telling && !task->killed) {
                task->killed = true; /* its end and the kill request cross each other */
                return;
        }
        if (!sim_check(sim, task && task->run >= 0 && !task->killed && sim->runs.data[task->run].executor == executor,
                       "task %lld is killed twice or on executor %d, where it does not run", (long long)task_id,
                       executor))
                return;
        task->killed = true;
        sim->report->kills++;
        if (sim->o.messages)
                sim->o.messages->kill_task(sim->o.messages->owner, executor, task_id, interrupt, reason);
        sim_send_kill(sim, task_id);
}

static void simulator_invariants_task_lost(void *owner, const struct task_attempt_info *info,
                                           const struct task_status *status)
{
        struct sim *sim = owner;
        struct sim_task *task = simulator_invariants_task_at(sim, status->task_id);

        if (!sim_check(sim, task && task->run >= 0 && sim->runs.data[task->run].executor == info->executor,
                       "task %lld is lost on executor %d, where it does not run", (long long)status->task_id,
                       info->executor))
                return;
        sim->report->lost_tasks++;
        if (sim->commits)
                sim_commits_failed(sim, status->task_id, status->state);
        sim_task_ended(sim, status->task_id);
}

static void simulator_invariants_task_accepted(void *owner, const struct task_attempt_info *info,
                                               const struct task_status *status)
{
        struct sim *sim = owner;
        const struct stage *stage = info->set->stage;

        sim->report->accepted++;
        sim->report->late_accepted += info->set->attempt != stage->attempt;
        if (!stage_is_result(stage)) {
                struct sim_output *output = output_at(sim, status->output);

                if (!sim_check(sim, output && output->state == OUTPUT_WRITTEN,
                               "task %lld reports a map output that is unknown or was counted before",
                               (long long)status->task_id))
                        return;
                output->state = OUTPUT_COUNTED;
                sim_celeborn_accepted(sim, info->set->job->id, output);
                sim->executors.data[output->executor].outputs++;
                sim_check(sim, sim->executors.data[output->executor].known,
                          "an output of shuffle %d is counted on the lost executor %d", output->shuffle,
                          output->executor);
                return;
        }
        struct sim_job *j = job_at(sim, stage->job);

        if (!sim_check(sim, j && j->started && !j->ended && info->output >= 0 && info->output < j->n,
                       "output %d of job %d is accepted, but the job does not run", info->output, stage->job->id))
                return;
        sim_check(sim, !j->accepted[info->output], "output %d of job %d is accepted twice", info->output,
                  stage->job->id);
        j->accepted[info->output] = 1;
        sim_commits_accepted(sim, j, info->output, status->task_id);
        sim_journal_accepted(sim, stage->job->id, info->output);
}

static void simulator_invariants_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor,
                                                    uint64_t handle)
{
        struct sim *sim = owner;
        struct sim_output *output = output_at(sim, handle);

        if (!sim_check(sim, output && output->state != OUTPUT_RELEASED,
                       "output %d of shuffle %d is released twice or was never written", map_partition, shuffle_id))
                return;
        if (output->state == OUTPUT_COUNTED && (size_t)output->executor < sim->executors.len)
                sim->executors.data[output->executor].outputs--;
        output->state = OUTPUT_RELEASED;
        sim_celeborn_removed(sim, output);
        sim->report->outputs_removed++;
        if (sim->o.messages && !sim->last)
                sim->o.messages->map_output_removed(sim->o.messages->owner, shuffle_id, map_partition, executor,
                                                    handle);
}

/* Discards accepted outputs, which will be accepted again. */
static void simulator_invariants_outputs_reset(void *owner, struct job *job)
{
        struct sim_job *j = job_at(owner, job);

        if (!sim_check((struct sim *)owner, j && j->started && !j->ended,
                       "outputs of job %d are reset, but the job does not run", job->id))
                return;
        memset(j->accepted, 0, (size_t)j->n);
        ((struct sim *)owner)->report->resets++;
        sim_commits_reset(j);
        sim_journal_reset(owner, job->id);
}

static void simulator_invariants_unschedulable(void *owner, struct task_set *set, bool yes)
{
        ((struct sim *)owner)->report->unschedulable += yes;
}

const struct sched_ops sim_ops = {
        .job_started = simulator_invariants_job_started,
        .stage_submitted = simulator_invariants_stage_submitted,
        .launch = simulator_invariants_launch,
        .kill_task = simulator_invariants_kill_task,
        .task_lost = simulator_invariants_task_lost,
        .task_accepted = simulator_invariants_task_accepted,
        .stage_completed = simulator_invariants_stage_completed,
        .job_ended = simulator_invariants_job_ended,
        .map_output_removed = simulator_invariants_map_output_removed,
        .task_set_removed = simulator_invariants_task_set_removed,
        .stage_removed = simulator_invariants_stage_removed,
        .job_removed = simulator_invariants_job_removed,
        .outputs_reset = simulator_invariants_outputs_reset,
        .preferred = sim_preferred,
        .may_prefer = sim_may_prefer,
        .profile = sim_profile,
        .rack = sim_rack,
        .barrier_launching = sim_barrier_launching,
        .excluded = sim_excluded,
        .unschedulable = simulator_invariants_unschedulable,
};

/* --------------------------------------------------------------------------------------------- the whole */

void sim_check_lost(struct sim *sim, int executor)
{
        const struct sim_executor *e = &sim->executors.data[executor];

        sim_check(sim, e->first < 0, "executor %d is lost, but one of its tasks is not", executor);
        sim_check(sim, e->outputs == 0 || sim->o.config.outputs_outlive_executors || sim_outputs_are_stored(sim),
                  "executor %d is lost, but %d of its map outputs are still counted", executor, e->outputs);
}

void sim_check_end(struct sim *sim)
{
        for (int i = 0; i < sim->submitted; i++) {
                const struct sim_job *j = &sim->jobs.data[i];

                sim_check(sim, j->ended, "job %d has not ended, and no event is left that could end it", i);
                sim_check(sim, j->removed, "job %d has ended but was not removed", i);
        }
        sim_check(sim, sim->s->waiting.len == 0 && sim->s->failed.len == 0, "some stages wait forever");
        for (size_t i = 0; i < sim->executors.len; i++) {
                const struct sched_executor *e = &sim->s->tasks.executors.at.data[i];

                sim_check(sim, sim->executors.data[i].first < 0, "a batch on executor %zu never ends", i);
                sim_check(sim, !e->alive || e->free == sim->executors.data[i].cores,
                          "executor %zu has only %d of its %d cores free although no task runs", i, e->free,
                          sim->executors.data[i].cores);
        }
}

void sim_check_freed(struct sim *sim)
{
        for (size_t i = 0; i < sim->outputs.len; i++)
                sim_check(sim, sim->outputs.data[i].state == OUTPUT_RELEASED,
                          "output %d of shuffle %d is never released", sim->outputs.data[i].map,
                          sim->outputs.data[i].shuffle);
        for (int i = 0; i < sim->submitted; i++)
                sim_check(sim, sim->jobs.data[i].removed, "job %d is never removed", i);
}
