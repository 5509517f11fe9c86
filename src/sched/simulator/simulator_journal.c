/*
 * Drivers that die: what a driver journals, and what the next one begins with (driver/resume).
 *
 * An output is done if its result is journaled, or if a task that was allowed to commit it has committed it. A task
 * that had the permission and did not use it is revoked: its executor is one of the dead driver. So is what was
 * computed before the outputs of a job were reset. The first run of an application differs from the later ones only by
 * time.
 *
 * Executors that live when their driver dies go on with their tasks, and the next driver adopts them (sched_adopt_run).
 * The invariants of launches see to it that no task of them is launched again while it runs.
 */
#include "sched/simulator/simulator_celeborn.h"

#include "base/hash_table.h"
#include "sched/tasks/task_table.h"

#define EARLIER_DRIVER INT64_MAX /* in the place of the task that has committed a partition */

void simulator_journal_deinit(struct simulator_journal *journal)
{
        vec_deinit(&journal->records);
        vec_deinit(&journal->committed);
        vec_deinit(&journal->held);
        vec_deinit(&journal->outputs);
        for (size_t i = 0; i < journal->celeborn_records.len; i++)
                buf_deinit(&journal->celeborn_records.data[i]);
        vec_deinit(&journal->celeborn_records);
        sim_celeborn_release(steal(journal->celeborn));
}

static void simulator_journal_put(struct sim *sim, int job, int output, int kind)
{
        vec_push(&sim->o.journal->records, (struct simulator_record){job, output, kind});
}

static bool simulator_journal_is_committed(const struct simulator_journal *journal, int job, int output)
{
        for (size_t i = 0; i < journal->committed.len; i++)
                if (journal->committed.data[i].job == job && journal->committed.data[i].output == output)
                        return true;
        return false;
}

uint8_t *sim_journal_done(struct sim *sim, int job, int n)
{
        struct simulator_journal *journal = sim->o.journal;
        uint8_t *done = journal ? mem_zero((size_t)MAX(n, 1)) : NULL;
        uint8_t *allowed = journal ? mem_zero((size_t)MAX(n, 1)) : NULL;

        for (size_t i = 0; journal && i < journal->records.len; i++) {
                const struct simulator_record *r = &journal->records.data[i];

                if (r->job != job || r->kind >= SIMULATOR_MAP_OUTPUT)
                        continue;
                if (r->kind == SIMULATOR_RESET) {
                        memset(done, 0, (size_t)n);
                        memset(allowed, 0, (size_t)n);
                } else if (sim_check(sim, r->output >= 0 && r->output < n, "job %d has no output %d", job, r->output)) {
                        (r->kind == SIMULATOR_RESULT ? done : allowed)[r->output] = 1;
                }
        }
        for (int i = 0; journal && i < n; i++) {
                if (!allowed[i] || done[i])
                        continue;
                done[i] = simulator_journal_is_committed(journal, job, i);
                journal->adopted += done[i];
                journal->revoked += !done[i];
                if (done[i])
                        simulator_journal_put(sim, job, i, SIMULATOR_RESULT);
        }
        free(allowed);
        return done;
}

void sim_journal_started(struct sim *sim, struct sim_job *j, const struct job *job)
{
        bool any = false;

        if (!sim->o.journal)
                return;
        for (int i = 0; i < job->n; i++) {
                j->accepted[i] = job->output_done[i];
                any |= job->output_done[i];
                if (j->save && job->output_done[i])
                        j->committed[i] = EARLIER_DRIVER;
        }
        if (!any) /* nothing is kept of a barrier stage of which a part was done */
                sim_journal_reset(sim, job->id);
}

void sim_journal_accepted(struct sim *sim, int job, int output)
{
        if (sim->o.journal)
                simulator_journal_put(sim, job, output, SIMULATOR_RESULT);
}

/* What was committed before will be replaced. */
void sim_journal_reset(struct sim *sim, int job)
{
        struct simulator_journal *journal = sim->o.journal;
        size_t n = 0;

        if (!journal)
                return;
        simulator_journal_put(sim, job, 0, SIMULATOR_RESET);
        for (size_t i = 0; i < journal->committed.len; i++)
                if (journal->committed.data[i].job != job)
                        journal->committed.data[n++] = journal->committed.data[i];
        journal->committed.len = n;
}

void sim_journal_job_ended(struct sim *sim)
{
        if (sim->o.journal && !sim->last)
                sim->o.journal->durable = sim->o.journal->records.len;
}

void sim_journal_allowed(struct sim *sim, int job, int output)
{
        if (!sim->o.journal)
                return;
        simulator_journal_put(sim, job, output, SIMULATOR_COMMIT);
        if (!sim->o.journal->lazy_commits)
                sim->o.journal->durable = sim->o.journal->records.len;
}

void sim_journal_committed(struct sim *sim, int job, int output)
{
        struct simulator_journal *journal = sim->o.journal;

        if (journal && !simulator_journal_is_committed(journal, job, output))
                vec_push(&journal->committed, (struct simulator_commit){job, output});
}

void sim_journal_check(struct sim *sim)
{
        const struct simulator_journal *journal = sim->o.journal;

        for (size_t i = 0; i < journal->committed.len; i++) {
                const struct simulator_commit *c = &journal->committed.data[i];
                bool found = false;

                for (size_t k = 0; k < journal->durable && !found; k++)
                        found = journal->records.data[k].job == c->job &&
                                journal->records.data[k].output == c->output &&
                                journal->records.data[k].kind == SIMULATOR_COMMIT;
                sim_check(sim, found, "partition %d of job %d is committed, and the journal may lack the permission",
                          c->output, c->job);
        }
}

/* ----------------------------------------------------------------------------------------------- running tasks */

static bool simulator_journal_allows(const struct simulator_journal *journal, int job, int output)
{
        for (size_t i = 0; i < journal->records.len; i++)
                if (journal->records.data[i].job == job && journal->records.data[i].output == output &&
                    journal->records.data[i].kind == SIMULATOR_COMMIT)
                        return true;
        return false;
}

/* Fills in @held. Returns false for a batch that the next driver cannot adopt, or of which a status was sent. */
static bool simulator_journal_describe(struct sim *sim, const struct sim_run *run, struct simulator_held *held)
{
        const struct sim_executor *e = &sim->executors.data[run->executor];

        if (run->left < run->n || run->at == run->n || (run->each && run->at > 0) || run->storing)
                return false;
        *held = (struct simulator_held){.executor = run->executor,
                                        .host = e->host,
                                        .cores = e->cores,
                                        .profile = e->profile,
                                        .attempt = run->attempt,
                                        .first_id = run->first_id,
                                        .n = run->n};
        for (int i = 0; i < run->n; i++) {
                struct task_attempt_info info;

                if (!sched_task(sim->s, run->first_id + i, &info) || sim->tasks.data[run->first_id + i].killed)
                        return false;
                const struct stage *stage = info.set->stage;

                if (info.set->barrier || stage->indeterminate || info.set->zombie)
                        return false;
                held->job = info.set->job->id;
                held->shuffle = stage_is_result(stage) ? -1 : stage->shuffle->shuffle_id;
                held->outputs[i] = info.output;
                if (held->shuffle < 0 && simulator_journal_allows(sim->o.journal, held->job, info.output))
                        return false;
        }
        return true;
}

void sim_journal_hold(struct sim *sim)
{
        struct simulator_journal *journal = sim->o.journal;

        journal->held.len = 0;
        journal->next_task_id = (int64_t)sim->tasks.len;
        if (sim->stop_at == 0 || sim->n_profiles > 0)
                return;
        for (size_t i = 0; i < sim->executors.len; i++) {
                const struct sim_executor *e = &sim->executors.data[i];

                for (int run = e->first; run >= 0 && e->works && e->known; run = sim->runs.data[run].next) {
                        struct simulator_held held;

                        if (simulator_journal_describe(sim, &sim->runs.data[run], &held))
                                vec_push(&journal->held, held);
                }
        }
}

void sim_journal_return(struct sim *sim)
{
        struct simulator_journal *journal = sim->o.journal;
        int last = -1;

        sim_celeborn_return(sim);
        sim->first_id = (journal->next_task_id + TASK_CHUNK - 1) / TASK_CHUNK * TASK_CHUNK;
        while ((int64_t)sim->tasks.len < sim->first_id)
                vec_push(&sim->tasks, (struct sim_task){.run = -1});
        for (size_t i = 0; i < journal->held.len; i++) {
                struct simulator_held *held = &journal->held.data[i];
                const int former = held->executor;

                if (former != last)
                        sim_add_executor(sim, held->host, held->cores, held->profile);
                last = former;
                held->executor = (int32_t)sim->executors.len - 1;
        }
}

void sim_journal_adopt(struct sim *sim, int job)
{
        struct simulator_journal *journal = sim->o.journal;

        for (size_t i = 0; i < journal->held.len; i++) {
                const struct simulator_held *held = &journal->held.data[i];
                const struct sched_adoption adoption = {.executor = held->executor,
                                                        .first_id = held->first_id,
                                                        .outputs = held->outputs,
                                                        .n = held->n,
                                                        .takes_core = true};
                struct task_set *set = NULL;

                while (held->job == job && (set = sched_next_task_set(sim->s, set)))
                        if (set->job->id == job && !set->zombie && stage_is_result(set->stage) == (held->shuffle < 0) &&
                            (held->shuffle < 0 || set->stage->shuffle->shuffle_id == held->shuffle))
                                break;
                sim->adopting = held;
                if (set && sched_adopt_run(sim->s, set, &adoption, sim->now))
                        journal->taken_over += held->n;
                sim->adopting = NULL;
        }
}

/* What was not durable when the driver died is lost, from any record on. */
static void simulator_journal_cut(struct simulator_journal *journal, uint64_t random)
{
        const size_t open = journal->records.len - journal->durable;

        journal->records.len = journal->durable + (size_t)(random % (open + 1));
}

int simulator_run_drivers(const struct simulator_options *options, int deaths, struct simulator_journal *journal,
                          struct simulator_report *report, struct fst_error *error)
{
        struct simulator_options o = *options;
        uint64_t random = options->seed;
        int64_t events = options->random ? 300 : MAX(2 * options->tasks, INT64_C(1));

        *report = (struct simulator_report){0};
        o.journal = journal;
        for (int driver = 0; driver <= deaths; driver++) {
                struct simulator_report one;

                random = object_hash_number(random + 0x9e3779b97f4a7c15u);
                o.dies_at = driver < deaths ? 1 + (int64_t)(random % (uint64_t)events) : 0;
                int r = simulator_run(&o, &one, error);

                simulator_report_add(report, &one);
                if (r)
                        return r;
                if (driver < deaths)
                        simulator_journal_cut(journal, random >> 32);
        }
        return 0;
}
