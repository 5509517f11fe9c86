/*
 * The workload of a simulation.
 *
 * A configured workload (executors 10000, tasks 1000000) has jobs of equal size, each a chain of stages with some
 * additional edges, all submitted at once. A random workload covers unusual cases: few RDDs that several jobs share, so
 * that stages are skipped, shared and orphaned, jobs on some partitions, on the same partition twice or on none, RDDs
 * that are cached and uncached, and jobs that arrive while others run, and are cancelled in every way.
 */
#include "sched/simulator/simulation.h"

#include "base/hash_table.h"

#include <stdio.h>

static bool rdd_cached(const struct lineage *rdd, int partition)
{
        return container_of(rdd, struct sim_rdd, lineage)->whole;
}

static struct lineage *add_rdd(struct sim *sim, int partitions)
{
        struct sim_rdd *rdd = new0(struct sim_rdd);

        rdd->sim = sim;
        rdd->lineage = (struct lineage){.id = (int)sim->rdds.len,
                                        .partitions = partitions,
                                        .name = "SimulatedRDD",
                                        .call_site = "simulate",
                                        .profile = sim_profile_of_rdd(sim, (int)sim->rdds.len)};
        vec_push(&sim->rdds, rdd);
        return &rdd->lineage;
}

static void simulator_workload_depend(struct sim *sim, struct lineage *rdd, enum lineage_dep_kind kind,
                                      struct lineage *parent)
{
        rdd->deps = mem_grow(rdd->deps, (size_t)(rdd->n_deps + 1) * sizeof(*rdd->deps));
        rdd->deps[rdd->n_deps++] = (struct lineage_dep){.kind = kind,
                                                        .parent = parent,
                                                        .shuffle_id = kind == LINEAGE_SHUFFLE ? sim->n_shuffles++ : -1,
                                                        .reduce_partitions = rdd->partitions,
                                                        .child = rdd};
}

/* ------------------------------------------------------------------------------------------ a random world */

/* Enables speculation, exclusion, locality, barrier stages and saves, each for some seeds. */
static void draw_placing(struct sim *sim)
{
        struct simulator_options *o = &sim->o;
        struct sched_config *config = &o->config;

        if (sim_roll(sim, 3) == 0) {
                o->locality = 0.3 + 0.1 * sim_roll(sim, 8);
                o->racks = (int)sim_roll(sim, 3);
                config->locality.wait_process = sim_spread(sim, o->task_ns * sim_roll(sim, 4));
                config->locality.wait_node = sim_spread(sim, o->task_ns * sim_roll(sim, 4));
                config->locality.wait_rack = sim_spread(sim, o->task_ns * sim_roll(sim, 4));
                config->locality.legacy_reset = sim_roll(sim, 4) == 0;
        }
        if (sim_roll(sim, 3) == 0) {
                config->speculation.enabled = true;
                config->speculation.interval = o->task_ns;
                config->speculation.min_runtime = 0;
                config->speculation.quantile = sim_roll(sim, 2) ? 0.25 : 0.75;
                config->speculation.multiplier = 1.5;
                config->speculation.threshold = sim_roll(sim, 4) == 0 ? o->task_ns * 2 : 0;
        }
        if (sim_roll(sim, 3) == 0) {
                config->exclusion.stage = sim_roll(sim, 8) > 0;
                config->exclusion.application = sim_roll(sim, 4) > 0;
                config->exclusion.fetch_failure = sim_roll(sim, 2);
                config->exclusion.kill = sim_roll(sim, 4) == 0;
                config->exclusion.max_task_attempts_per_executor = 1 + (int)sim_roll(sim, 2);
                config->exclusion.stage_max_failed_executors_per_node = 1 + (int)sim_roll(sim, 2);
                config->exclusion.max_failed_tasks_per_executor = 1 + (int)sim_roll(sim, 2);
                config->exclusion.timeout = o->task_ns * (5 + sim_roll(sim, 40));
                config->exclusion.unschedulable_timeout = o->task_ns * (1 + sim_roll(sim, 10));
        }
        if (sim_roll(sim, 3) == 0) {
                o->barrier = 0.1 + 0.1 * sim_roll(sim, 4);
                config->barrier_check_interval = o->task_ns;
                config->barrier_check_max_failures = 1 + (int)sim_roll(sim, 20);
                sim->keeps_size = true; /* a barrier stage needs all cores that existed */
        }
        if (sim_roll(sim, 3) == 0)
                o->saves = 0.5;
}

void sim_draw(struct sim *sim)
{
        static const double chances[] = {0, 0, 0.002, 0.01, 0.05};
        struct simulator_options *o = &sim->o;
        struct sched_config *config = &o->config;

        config->task_cpus = 1 + (sim_roll(sim, 4) == 0);
        config->mode = sim_roll(sim, 2) ? SCHEDULING_FAIR : SCHEDULING_FIFO;
        config->max_failures = 1 + (int)sim_roll(sim, 4);
        config->max_stage_attempts = 1 + (int)sim_roll(sim, 8);
        config->outputs_outlive_executors = sim_roll(sim, 4) == 0;
        o->executors = 1 + (int)sim_roll(sim, 8);
        o->cores = config->task_cpus * (1 + (int)sim_roll(sim, 4));
        o->hosts = 1 + (int)sim_roll(sim, 4);
        o->jobs = 1 + (int)sim_roll(sim, 12);
        o->task_ns = 10000;
        for (uint32_t i = sim_roll(sim, 6); i > 0; i--)
                o->task_ns *= 10;
        o->loss = chances[sim_roll(sim, ARRAY_SIZE(chances))];
        o->stragglers = chances[sim_roll(sim, ARRAY_SIZE(chances))];
        o->straggler_factor = 2 + sim_roll(sim, 30);
        o->fetch_failures = chances[sim_roll(sim, ARRAY_SIZE(chances))];
        o->task_failures = chances[sim_roll(sim, ARRAY_SIZE(chances))];
        o->cancels = sim_roll(sim, 2) ? 0.15 : 0;
        sim->life_ns = sim_roll(sim, 3) ? o->task_ns * (5 + sim_roll(sim, 60)) : 0;
        sim->calm_at = o->task_ns * (20 + sim_roll(sim, 60));
        draw_placing(sim);
        o->stores = object_hash_number(o->seed + 1) % 4 == 0; /* leaves the other draws of a seed as they are */
        if (o->celeborn.workers > 0) {
                o->stores = false;
                sim_celeborn_draw(o);
        }
        if (sim_roll(sim, 8) == 0)
                sim->stop_at = 1 + sim_roll(sim, 300);
}

/* Draws the properties of an RDD besides its lineage. */
static void draw_kind(struct sim *sim, struct lineage *rdd)
{
        rdd->barrier = sim_chance(sim, sim->o.barrier);
        if (rdd->barrier && sim->o.random)
                rdd->partitions = 1 + (int)sim_roll(sim, 3);
        container_of(rdd, struct sim_rdd, lineage)->located = !sim->o.random || sim_roll(sim, 2);
}

static void make_random_lineages(struct sim *sim)
{
        int n = 2 + (int)sim_roll(sim, 13);

        for (int i = 0; i < n; i++) {
                struct lineage *rdd = add_rdd(sim, 1 + (int)sim_roll(sim, sim_roll(sim, 6) ? 6 : 80));

                draw_kind(sim, rdd);
                rdd->indeterminate = sim->o.barrier > 0 && sim_roll(sim, 8) == 0;
                for (uint32_t d = i == 0 ? 0 : sim_roll(sim, 4); d > 0; d--)
                        simulator_workload_depend(sim, rdd, sim_roll(sim, 2) ? LINEAGE_SHUFFLE : LINEAGE_NARROW,
                                                  &sim->rdds.data[sim_roll(sim, (uint32_t)i)]->lineage);
                if (sim_roll(sim, 6) == 0)
                        rdd->cached = rdd_cached;
        }
}

static void make_random_jobs(struct sim *sim)
{
        int64_t window = sim->o.task_ns * sim_roll(sim, 40);

        for (int i = 0; i < sim->o.jobs; i++) {
                struct lineage *rdd = &sim->rdds.data[sim_roll(sim, (uint32_t)sim->rdds.len)]->lineage;
                struct sim_job job = {
                        .final = rdd, .some = sim_roll(sim, 3) == 0, .save = sim_chance(sim, sim->o.saves)};

                job.some &= !job.save;

                for (uint32_t n = job.some ? sim_roll(sim, 5) : 0; n > 0; n--)
                        vec_push(&job.partitions, (int)sim_roll(sim, (uint32_t)rdd->partitions));
                vec_push(&sim->jobs, job);
                sim_at(sim, sim_spread(sim, window), SIM_SUBMIT, 0, 0);
        }
        for (uint32_t n = sim_roll(sim, 4) ? 0 : sim_roll(sim, 4); n > 0 && sim->n_shuffles > 0; n--)
                sim_at(sim, sim_spread(sim, window), SIM_UNREGISTER, (int32_t)sim_roll(sim, (uint32_t)sim->n_shuffles),
                       0);
        for (size_t i = 0; i < sim->rdds.len; i++)
                for (uint32_t n = sim->rdds.data[i]->lineage.cached ? sim_roll(sim, 4) : 0; n > 0; n--)
                        sim_at(sim, sim_spread(sim, window), SIM_CACHE, (int32_t)i, 0);
}

/* ------------------------------------------------------------------------------------------- a given world */

/* Builds a chain of stages with @tasks. Each reads the one before, and with probability 1/4 an earlier one too. */
static struct lineage *make_chain(struct sim *sim, int64_t tasks)
{
        size_t first = sim->rdds.len;
        int stages = (int)MIN((int64_t)sim->o.stages, tasks);

        for (int i = 0; i < stages; i++) {
                struct lineage *rdd = add_rdd(sim, (int)(tasks / stages + (i < tasks % stages)));

                draw_kind(sim, rdd);
                if (i > 0)
                        simulator_workload_depend(sim, rdd, LINEAGE_SHUFFLE,
                                                  &sim->rdds.data[first + (size_t)i - 1]->lineage);
                if (i > 1 && sim_roll(sim, 4) == 0)
                        simulator_workload_depend(sim, rdd, LINEAGE_SHUFFLE,
                                                  &sim->rdds.data[first + sim_roll(sim, (uint32_t)i - 1)]->lineage);
        }
        return &sim->rdds.data[sim->rdds.len - 1]->lineage;
}

static void make_given_jobs(struct sim *sim)
{
        int jobs = (int)MIN((int64_t)sim->o.jobs, sim->o.tasks);

        for (int i = 0; i < jobs; i++) {
                int64_t tasks = sim->o.tasks / jobs + (i < sim->o.tasks % jobs);

                vec_push(&sim->jobs,
                         (struct sim_job){.final = make_chain(sim, tasks), .save = sim_chance(sim, sim->o.saves)});
                sim_at(sim, 0, SIM_SUBMIT, 0, 0);
        }
}

/* -------------------------------------------------------------------------------------------------- both */

void sim_make_work(struct sim *sim)
{
        if (!sim->o.random) {
                make_given_jobs(sim);
                return;
        }
        make_random_lineages(sim);
        make_random_jobs(sim);
}

static void plan_cancel(struct sim *sim, int job)
{
        struct event event = {.at = sim->now + sim_spread(sim, sim->o.task_ns * 4), .kind = SIM_CANCEL, .index = job};
        uint32_t dice = sim_roll(sim, 10);

        event.extra = dice < 6 ? SIM_CANCEL_JOB : (uint16_t)(SIM_CANCEL_JOB + 1 + dice % 4);
        if (event.extra == SIM_CANCEL_STAGE)
                event.index = (int32_t)sim_roll(sim, 10);
        event_queue_push(&sim->queue, event);
}

void sim_submit(struct sim *sim)
{
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        int index = sim->submitted++;
        struct sim_job *job = &sim->jobs.data[index];
        struct job_spec spec = {.final = job->final, .call_site = "simulate", .properties = &properties};
        char pool[16];

        snprintf(pool, sizeof(pool), "pool%d", index % 4);
        strmap_set(&properties, "spark.scheduler.pool", pool);
        strmap_set(&properties, "spark.jobGroup.id", index % 2 ? "odd" : "even");
        strmap_set(&properties, "spark.job.tags", index % 3 ? "some,more" : "some");
        strmap_set(&properties, "spark.job.interruptOnCancel", index % 2 ? "true" : "false");
        if (job->some) {
                vec_reserve(&job->partitions, 1);
                spec.partitions = job->partitions.data;
                spec.n_partitions = (int)job->partitions.len;
        }
        job->submitted = true;
        _cleanup_free_ uint8_t *done =
                sim_journal_done(sim, index, job->some ? spec.n_partitions : job->final->partitions);
        spec.done = done;
        _cleanup_free_ struct earlier_output *stored = NULL;
        spec.n_stored = sim_celeborn_stored(sim, index, &stored);
        spec.stored = stored;
        int id = sched_submit_job(sim->s, &spec, sim->now, NULL);

        sim_check(sim, id == index, "job %d got the id %d", index, id);
        sim_celeborn_kept(sim, stored, spec.n_stored);
        if (sim->o.journal)
                sim_journal_adopt(sim, index);
        if (sim_chance(sim, sim->o.cancels))
                plan_cancel(sim, index);
}

void sim_free_work(struct sim *sim)
{
        for (size_t i = 0; i < sim->jobs.len; i++) {
                vec_deinit(&sim->jobs.data[i].partitions);
                free(sim->jobs.data[i].accepted);
                free(sim->jobs.data[i].committed);
                free(sim->jobs.data[i].commit_attempts);
        }
        for (size_t i = 0; i < sim->rdds.len; i++) {
                free(sim->rdds.data[i]->lineage.deps);
                free(sim->rdds.data[i]);
        }
        vec_deinit(&sim->jobs);
        vec_deinit(&sim->rdds);
}
