/*
 * A seeded simulation: random lineages, jobs, failures, fetch failures, cancellations, new and lost executors, checked
 * against a model. A failure names its seed, and
 *
 *      simulation_test SEED [COUNT]
 *
 * repeats it. Checks:
 * - Every output of a job is accepted exactly once. Every job ends exactly once, and a successful one has all its
 * outputs.
 * - No core has two batches, and no dead executor has any.
 * - A stage starts only when its parents' outputs are available. A barrier stage starts only as a whole.
 * - A task has at most two attempts, the second one speculative. Zombies launch no tasks.
 * - Every handle of a map output and every object is released once.
 */
#include "base/log.h"
#include "sched/dag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { MAX_RDDS = 14, MAX_JOBS = 12, MAX_EXECUTORS = 32, SPARE_EXECUTORS = 8, STEPS = 400 };

/* Events counted over all seeds, so that the test fails if it stops covering some. */
static struct {
        long results[3], accepted, fetch_failures, resubmitted_stages, losses, lost_tasks, kills, long_runs, retries;
        long exhausted, zombie_successes, outputs_removed;
        long speculative, levels[LOCALITY_LEVELS], excluded, gangs, resets, nowhere;
} seen;

struct random_run {
        int executor;
        int64_t next, end; /* ids of running tasks */
};

struct random_job {
        int n;
        uint8_t *accepted;
        bool started, ended, removed;
};

struct random_sim {
        struct sched *s;
        uint64_t seed, random;
        int64_t now;
        struct lineage rdds[MAX_RDDS];
        struct lineage_dep deps[MAX_RDDS][3];
        int n_rdds, n_shuffles;
        struct random_job jobs[MAX_JOBS];
        int n_jobs, n_alive, n_executors, cpus;
        struct {
                int cores, used;
                bool alive;
        } executors[MAX_EXECUTORS];
        VEC(struct random_run) runs;
        VEC(uint8_t) killed;  /* by task id */
        VEC(uint8_t) handles; /* 1: passed to the scheduler, 2: released */
        bool calm;            /* no more faults */
};

#define sim_check(sim, condition)                                                                                      \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %llu: %s (line %d)", (unsigned long long)(sim)->seed, #condition, __LINE__);    \
        } while (0)

static uint32_t roll(struct random_sim *sim, uint32_t sides)
{
        uint64_t z = (sim->random += 0x9e3779b97f4a7c15u);

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (uint32_t)((z ^ (z >> 31)) % sides);
}

/* ---------------------------------------------------------------------------------------------- operations */

static void sim_job_started(void *owner, struct job *job)
{
        struct random_sim *sim = owner;
        struct random_job *j = &sim->jobs[job->id];

        sim_check(sim, !j->started && job->id == sim->n_jobs - 1);
        j->started = true;
        j->n = job->n;
        j->accepted = new_array(uint8_t, (size_t)job->n + 1);
}

static void sim_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct random_sim *sim = owner;

        sim_check(sim, set->n > 0 && stage->jobs.len > 0);
        seen.resubmitted_stages += set->attempt > 0;
        for (int i = 0; i < stage->n_parents; i++)
                sim_check(sim, map_outputs_complete(stage->parents[i]->outputs));
        for (int i = 0; i < set->n; i++)
                if (!stage_is_result(stage))
                        sim_check(sim, !map_outputs_has(stage->outputs, task_set_output(set, i)));
}

static void sim_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        struct random_sim *sim = owner;

        sim_check(sim, sim->executors[executor].alive && !set->zombie && n > 0);
        sim->executors[executor].used += sim->cpus;
        sim_check(sim, sim->executors[executor].used <= sim->executors[executor].cores);
        for (int i = 0; i < n; i++) {
                sim_check(sim, run[i].task_id == (int64_t)sim->killed.len);
                sim_check(sim, n == 1 || run[i].attempt == 0);
                sim_check(sim, !set->slots[run[i].index].done);
                sim_check(sim, set->slots[run[i].index].copies == (run[i].speculative ? 2 : 1));
                seen.speculative += run[i].speculative;
                seen.levels[run[i].locality]++;
                vec_push(&sim->killed, 0);
                seen.retries += run[i].attempt > 0;
        }
        seen.long_runs += n > 1;
        vec_push(&sim->runs,
                 (struct random_run){.executor = executor, .next = run[0].task_id, .end = run[0].task_id + n});
}

static void sim_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct random_sim *sim = owner;

        sim_check(sim, sim->executors[executor].alive && !sim->killed.data[task_id]);
        sim->killed.data[task_id] = 1;
        seen.kills++;
}

static void end_run_task(struct random_sim *sim, size_t i)
{
        struct random_run *run = &sim->runs.data[i];

        if (++run->next < run->end)
                return;
        sim->executors[run->executor].used -= sim->cpus;
        *run = sim->runs.data[--sim->runs.len];
}

static void sim_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct random_sim *sim = owner;

        for (size_t i = 0; i < sim->runs.len; i++)
                if (sim->runs.data[i].next == status->task_id) {
                        sim_check(sim, sim->runs.data[i].executor == info->executor);
                        end_run_task(sim, i);
                        seen.lost_tasks++;
                        return;
                }
        sim_check(sim, !"a lost task was running");
}

static void sim_task_accepted(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct random_sim *sim = owner;
        const struct job *job = info->set->stage->job;

        seen.accepted++;
        seen.zombie_successes += info->set->attempt != info->set->stage->attempt;
        if (!job)
                return;
        sim_check(sim, !sim->jobs[job->id].ended && !sim->jobs[job->id].accepted[info->output]);
        sim->jobs[job->id].accepted[info->output] = 1;
}

static void sim_stage_completed(void *owner, struct stage *stage, const char *failure)
{
}

static void sim_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct random_sim *sim = owner;
        struct random_job *j = &sim->jobs[job->id];

        sim_check(sim, j->started && !j->ended);
        j->ended = true;
        seen.results[result]++;
        seen.exhausted += message && strstr(message, "maximum allowable");
        for (int i = 0; i < j->n && result == JOB_SUCCEEDED; i++)
                sim_check(sim, j->accepted[i]);
}

static void sim_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
        struct random_sim *sim = owner;

        sim_check(sim, handle > 0 && handle <= sim->handles.len);
        sim_check(sim, sim->handles.data[handle - 1] == 1);
        sim->handles.data[handle - 1] = 2;
        seen.outputs_removed++;
}

static void sim_task_set_removed(void *owner, struct task_set *set)
{
        sim_check((struct random_sim *)owner, !set->runs);
}

static void sim_stage_removed(void *owner, struct stage *stage)
{
        sim_check((struct random_sim *)owner, stage->jobs.len == 0 || ((struct random_sim *)owner)->calm);
}

static void sim_job_removed(void *owner, struct job *job)
{
        struct random_sim *sim = owner;

        sim_check(sim, !sim->jobs[job->id].removed);
        sim->jobs[job->id].removed = true;
}

/* ---------------------------------------------------------------------------------------------- locations */

static int sim_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        struct random_sim *sim = owner;
        static const char *const hosts[] = {"h0", "h1", "h2", "h3", "elsewhere"};

        if (rdd->id % 3 || partition % 7 == 3)
                return 0;
        out[0] = (struct task_location){.executor = (partition * 5 + rdd->id) % MAX_EXECUTORS};
        if (out[0].executor >= sim->n_executors)
                out[0].executor = -1;
        out[0].host = hosts[partition % 5];
        out[1] = (struct task_location){.executor = -1, .host = hosts[(partition + 2) % 5]};
        return 1 + partition % 2;
}

static const char *sim_rack(void *owner, const char *host)
{
        return host[0] == 'h' ? (host[1] < '2' ? "r0" : "r1") : NULL;
}

static void sim_excluded(void *owner, const struct exclusion *what)
{
        seen.excluded += !what->lifted;
}

/* Checks that all tasks of a barrier stage start, each on free cores. */
static void sim_barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        struct random_sim *sim = owner;
        int wanted[MAX_EXECUTORS] = {0};

        sim_check(sim, n == set->n && set->n_running == 0);
        for (int i = 0; i < n; i++)
                wanted[executors[i]] += sim->cpus;
        for (int e = 0; e < sim->n_executors; e++)
                sim_check(sim, wanted[e] == 0 || sim->executors[e].used + wanted[e] <= sim->executors[e].cores);
        seen.gangs++;
}

static void sim_outputs_reset(void *owner, struct job *job)
{
        struct random_sim *sim = owner;

        memset(sim->jobs[job->id].accepted, 0, (size_t)sim->jobs[job->id].n);
        seen.resets++;
}

static void sim_unschedulable(void *owner, struct task_set *set, bool yes)
{
        seen.nowhere += yes;
}

static const struct sched_ops sim_ops = {
        .job_started = sim_job_started,
        .stage_submitted = sim_stage_submitted,
        .launch = sim_launch,
        .kill_task = sim_kill_task,
        .task_lost = sim_task_lost,
        .task_accepted = sim_task_accepted,
        .stage_completed = sim_stage_completed,
        .job_ended = sim_job_ended,
        .map_output_removed = sim_map_output_removed,
        .task_set_removed = sim_task_set_removed,
        .stage_removed = sim_stage_removed,
        .job_removed = sim_job_removed,
        .preferred = sim_preferred,
        .rack = sim_rack,
        .excluded = sim_excluded,
        .barrier_launching = sim_barrier_launching,
        .outputs_reset = sim_outputs_reset,
        .unschedulable = sim_unschedulable,
};

/* --------------------------------------------------------------------------------------------------- world */

static void make_lineages(struct random_sim *sim)
{
        sim->n_rdds = 2 + (int)roll(sim, MAX_RDDS - 1);
        for (int i = 0; i < sim->n_rdds; i++) {
                struct lineage *rdd = &sim->rdds[i];

                *rdd = (struct lineage){.id = i,
                                        .partitions = 1 + (int)roll(sim, roll(sim, 6) ? 6 : 80),
                                        .name = "R",
                                        .call_site = "sim",
                                        .deps = sim->deps[i]};
                if (roll(sim, 10) == 0 && rdd->partitions <= 6) {
                        rdd->barrier = true;
                        rdd->partitions = 1 + rdd->partitions % 2;
                }
                rdd->indeterminate = roll(sim, 12) == 0;
                rdd->n_deps = i == 0 ? 0 : (int)roll(sim, 4);
                for (int d = 0; d < rdd->n_deps; d++) {
                        bool shuffle = roll(sim, 2);

                        rdd->deps[d] = (struct lineage_dep){.kind = shuffle ? LINEAGE_SHUFFLE : LINEAGE_NARROW,
                                                            .parent = &sim->rdds[roll(sim, (uint32_t)i)],
                                                            .shuffle_id = shuffle ? sim->n_shuffles++ : -1};
                }
        }
}

static void add_executor(struct random_sim *sim)
{
        char id[16], host[4] = {'h', (char)('0' + roll(sim, 4)), 0};
        int e = sim->n_executors;

        if (e == MAX_EXECUTORS - (sim->calm ? 0 : SPARE_EXECUTORS))
                return;
        snprintf(id, sizeof(id), "%d", e);
        sim->executors[e].cores = sim->cpus * (1 + (int)roll(sim, 4));
        sim->executors[e].alive = true;
        sim->n_executors++;
        sim->n_alive++;
        sim_check(sim, sched_add_executor(sim->s, id, host, sim->executors[e].cores, sim->now) == e);
}

static void lose_executor(struct random_sim *sim)
{
        int e = (int)roll(sim, (uint32_t)sim->n_executors);

        if (!sim->executors[e].alive)
                return;
        sim->n_alive--;
        seen.losses++;
        sched_executor_lost(sim->s, e, roll(sim, 2), "lost", sim->now);
        sim->executors[e].alive = false;
        sim_check(sim, sim->executors[e].used == 0);
        if (sim->n_alive == 0)
                add_executor(sim);
}

/* Loses or restores the executor's connection, decommissions it, or suspects or kills one of its tasks. */
static void bother_executor(struct random_sim *sim, int e)
{
        int64_t task = roll(sim, (uint32_t)sim->killed.len + 1);
        static const char *const hosts[] = {"h0", "h1", "h2", "h3"};

        switch (roll(sim, 6)) {
        case 0:
                sched_disable_executor(sim->s, e);
                break;
        case 1:
                sched_enable_executor(sim->s, e);
                break;
        case 2:
                sched_suspect_task(sim->s, task);
                break;
        case 3:
                sched_task_progress(sim->s, task, roll(sim, 100), 1000);
                break;
        case 4:
                sched_host_lost(sim->s, hosts[roll(sim, 4)], "host lost", sim->now);
                break;
        default:
                sched_result_fits(sim->s, task, INT64_C(1) << roll(sim, 31), sim->now);
        }
}

static void submit(struct random_sim *sim)
{
        struct lineage *rdd = &sim->rdds[roll(sim, (uint32_t)sim->n_rdds)];
        int partitions[8], n = (int)roll(sim, 5);
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        struct job_spec spec = {.final = rdd, .properties = &properties};

        if (sim->n_jobs == MAX_JOBS)
                return;
        strmap_set(&properties, "spark.scheduler.pool", roll(sim, 2) ? "a" : "b");
        strmap_set(&properties, "spark.jobGroup.id", roll(sim, 2) ? "g" : "h");
        if (roll(sim, 3) == 0) {
                for (int i = 0; i < n; i++)
                        partitions[i] = (int)roll(sim, (uint32_t)rdd->partitions);
                spec.partitions = partitions;
                spec.n_partitions = n;
        }
        sim->n_jobs++;
        sim_check(sim, sched_submit_job(sim->s, &spec, sim->now, NULL) == sim->n_jobs - 1);
}

static enum task_state outcome(struct random_sim *sim, int64_t id)
{
        uint32_t dice = roll(sim, 200);

        if (sim->killed.data[id])
                return roll(sim, 4) ? TASK_KILLED : TASK_SUCCEEDED;
        if (sim->calm || dice < 180)
                return TASK_SUCCEEDED;
        if (dice < 188)
                return TASK_FAILED;
        if (dice < 198)
                return TASK_FETCH_FAILED;
        return dice == 198 ? TASK_COMMIT_DENIED : roll(sim, 4) ? TASK_KILLED : TASK_FAILED_FATAL;
}

static void end_task(struct random_sim *sim)
{
        size_t i = roll(sim, (uint32_t)sim->runs.len);
        struct task_status status = {.task_id = sim->runs.data[i].next, .message = "because"};
        struct task_fetch fetch;
        struct task_attempt_info info;

        sim_check(sim, sched_task(sim->s, status.task_id, &info));
        sim_check(sim, info.executor == sim->runs.data[i].executor);
        status.state = outcome(sim, status.task_id);
        status.run_ns = (int64_t)roll(sim, 3) * 100000;
        if (status.state == TASK_FETCH_FAILED && info.set->stage->n_parents == 0)
                status.state = TASK_FAILED;
        if (status.state == TASK_FETCH_FAILED) {
                struct stage *parent = info.set->stage->parents[roll(sim, (uint32_t)info.set->stage->n_parents)];
                int map = (int)roll(sim, (uint32_t)parent->partitions);

                fetch = (struct task_fetch){.shuffle_id = parent->shuffle->shuffle_id,
                                            .map_partition = roll(sim, 4) ? map : -1,
                                            .executor = roll(sim, 3) ? parent->outputs->at[map].executor : -1};
                status.fetch = &fetch;
                seen.fetch_failures++;
        }
        if (status.state == TASK_SUCCEEDED && !stage_is_result(info.set->stage)) {
                vec_push(&sim->handles, 1);
                status.output = sim->handles.len;
        }
        end_run_task(sim, i);
        sched_update_status(sim->s, &status, 1, sim->now);
        if (roll(sim, 50) == 0) { /* reported twice */
                status = (struct task_status){.task_id = status.task_id, .state = TASK_FAILED};
                sched_update_status(sim->s, &status, 1, sim->now);
        }
}

static void step(struct random_sim *sim)
{
        uint32_t dice = roll(sim, 1000);

        sim->now += (int64_t)roll(sim, 1000) * 10000;
        if (!sim->calm && dice < 30)
                submit(sim);
        else if (!sim->calm && dice < 36)
                lose_executor(sim);
        else if (!sim->calm && dice < 46)
                add_executor(sim);
        else if (!sim->calm && dice < 49 && sim->n_jobs > 0)
                sched_cancel_job(sim->s, (int)roll(sim, (uint32_t)sim->n_jobs), NULL, sim->now);
        else if (!sim->calm && dice < 50)
                sched_cancel_group(sim->s, "g", NULL, sim->now);
        else if (!sim->calm && dice < 51)
                sched_cancel_stage(sim->s, (int)roll(sim, 10), "stage", sim->now);
        else if (!sim->calm && dice == 51)
                sched_cancel_all(sim->s, sim->now);
        else if (!sim->calm && dice >= 990 && sim->n_executors > 1)
                bother_executor(sim, (int)roll(sim, (uint32_t)sim->n_executors - 1));
        else if (!sim->calm && dice < 54 && sim->n_shuffles > 0)
                sched_unregister_shuffle(sim->s, (int)roll(sim, (uint32_t)sim->n_shuffles));
        else if (sim->runs.len > 0)
                end_task(sim);
        for (struct executor_kill kill; sched_next_kill(sim->s, &kill);) /* no executor obeys */
                free(kill.reason);
        if (sched_deadline(sim->s) <= sim->now || (sim->runs.len == 0 && sched_deadline(sim->s) < INT64_MAX)) {
                sim->now = MAX(sim->now, sched_deadline(sim->s));
                sched_tick(sim->s, sim->now);
        }
        if (roll(sim, 4))
                sched_revive(sim->s, sim->now);
}

static bool all_ended(const struct random_sim *sim)
{
        for (int i = 0; i < sim->n_jobs; i++)
                if (!sim->jobs[i].ended)
                        return false;
        return sim->runs.len == 0;
}

static void simulate(uint64_t seed)
{
        struct random_sim *sim = new0(struct random_sim);
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        sim->seed = sim->random = seed;
        sim->cpus = 1 + (roll(sim, 4) == 0);
        config.task_cpus = sim->cpus;
        config.mode = roll(sim, 2) ? SCHEDULING_FAIR : SCHEDULING_FIFO;
        config.max_failures = 1 + (int)roll(sim, 4);
        config.max_stage_attempts = 1 + (int)roll(sim, 8);
        config.outputs_outlive_executors = roll(sim, 4) == 0;
        config.unregister_outputs_on_host = roll(sim, 2);
        config.locality.legacy_reset = roll(sim, 4) == 0;
        config.speculation.enabled = roll(sim, 2);
        config.speculation.min_runtime = 0;
        config.speculation.quantile = 0.25;
        config.exclusion.stage = config.exclusion.application = roll(sim, 4) == 0;
        config.exclusion.fetch_failure = roll(sim, 2);
        sim->s = sched_new(&config, &sim_ops, sim);
        make_lineages(sim);
        add_executor(sim);
        for (int i = 0; i < STEPS; i++)
                step(sim);
        if (roll(sim, 8)) {
                sim->calm = true;
                for (int e = 0; e < sim->n_executors; e++)
                        sched_enable_executor(sim->s, e);
                for (int i = 0; i < SPARE_EXECUTORS; i++)
                        add_executor(sim);
                for (int i = 0; i < 100000 && !all_ended(sim); i++)
                        step(sim);
                sim_check(sim, all_ended(sim));
                sim_check(sim, sim->s->waiting.len == 0 && sim->s->failed.len == 0);
                for (int i = 0; i < sim->n_jobs; i++)
                        sim_check(sim, sim->jobs[i].removed);
                for (int i = 0; i < sim->n_executors; i++)
                        sim_check(sim, sim->s->tasks.executors.at.data[i].free == sim->executors[i].cores);
        }
        sim->calm = true;
        sched_free(sim->s);
        for (size_t i = 0; i < sim->handles.len; i++)
                sim_check(sim, sim->handles.data[i] == 2);
        for (int i = 0; i < sim->n_jobs; i++) {
                sim_check(sim, sim->jobs[i].removed);
                free(sim->jobs[i].accepted);
        }
        vec_deinit(&sim->runs);
        vec_deinit(&sim->killed);
        vec_deinit(&sim->handles);
        free(sim);
}

static uint64_t first_seed = 1, seed_count = 2000;

static void random_simulations_keep_invariants(void **state)
{
        for (uint64_t i = 0; i < seed_count; i++)
                simulate(first_seed + i);
        print_message("jobs: %ld succeeded, %ld failed (%ld attempts exhausted), %ld cancelled; %ld outputs, %ld from "
                      "zombies; %ld retries, %ld stages resubmitted, %ld fetch failures, %ld executors lost with %ld "
                      "tasks, %ld kills, %ld long runs, %ld map outputs removed\n",
                      seen.results[JOB_SUCCEEDED], seen.results[JOB_FAILED], seen.exhausted,
                      seen.results[JOB_CANCELLED], seen.accepted, seen.zombie_successes, seen.retries,
                      seen.resubmitted_stages, seen.fetch_failures, seen.losses, seen.lost_tasks, seen.kills,
                      seen.long_runs, seen.outputs_removed);
        print_message(
                "levels: %ld %ld %ld %ld %ld; %ld speculative, %ld excluded, %ld nowhere, %ld gangs, %ld resets\n",
                seen.levels[0], seen.levels[1], seen.levels[2], seen.levels[3], seen.levels[4], seen.speculative,
                seen.excluded, seen.nowhere, seen.gangs, seen.resets);
        if (seed_count < 1000)
                return;
        for (int i = 0; i < 3; i++)
                assert_true(seen.results[i] > 100);
        assert_true(seen.exhausted > 20);
        assert_true(seen.zombie_successes > 0);
        assert_true(seen.resubmitted_stages > 100);
        for (int i = 0; i < LOCALITY_LEVELS; i++)
                assert_true(i == LOCALITY_NO_PREF || seen.levels[i] > 100);
        assert_true(seen.speculative > 100);
        assert_true(seen.excluded > 100);
        assert_true(seen.nowhere > 20);
        assert_true(seen.gangs > 100);
        assert_true(seen.resets > 20);
        assert_true(seen.fetch_failures > 100);
        assert_true(seen.lost_tasks > 100);
        assert_true(seen.kills > 100);
        assert_true(seen.long_runs > 100);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(random_simulations_keep_invariants),
        };

        if (argc > 1)
                first_seed = strtoull(argv[1], NULL, 10);
        if (argc > 1)
                seed_count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/simulator/simulation", tests, NULL, NULL);
}
