/*
 * What Spark's TaskSetManagerSuite, TaskSchedulerImplSuite, HealthTrackerSuite and TaskSetExcludelistSuite pin of
 * locality, custom resources, slow tasks, exclusion and gangs.
 */
#include "sched/sched_fixture.h"

#include "base/log.h"

enum { SECOND = 1000000000 };

/* What the owner of the scheduler knows, and what it heard. */
static struct {
        struct task_location places[16][2]; /* by partition of RDD 0 */
        int n_places[16];
        int speculative, excluded, lifted, killed, barriers, resets, unschedulable;
        struct exclusion last;
} world;

static int preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        if (rdd->id != 0 || partition >= 16)
                return 0;
        memcpy(out, world.places[partition], sizeof(*out) * (size_t)world.n_places[partition]);
        return world.n_places[partition];
}

static bool may_prefer(void *owner, const struct lineage *rdd)
{
        return rdd->id == 0;
}

static const char *rack(void *owner, const char *host)
{
        return host[0] == 'h' ? (host[1] < '3' ? "rack1" : "rack2") : NULL;
}

static void speculative_submitted(void *owner, struct task_set *set, int index)
{
        world.speculative++;
}

static void excluded(void *owner, const struct exclusion *what)
{
        world.last = *what;
        *(what->lifted ? &world.lifted : &world.excluded) += 1;
}

static void kill_executor(void *owner, int executor, bool decommission, const char *reason)
{
        world.killed++;
}

static void barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        world.barriers++;
        assert_int_equal(n, set->n);
}

static void outputs_reset(void *owner, struct job *job)
{
        world.resets++;
}

static void unschedulable(void *owner, struct task_set *set, bool yes)
{
        world.unschedulable += yes ? 1 : -1;
}

static struct sched_ops ops;

static void begin(struct fix *f, const struct sched_config *config)
{
        memset(&world, 0, sizeof(world));
        ops = fix_ops;
        ops.preferred = preferred;
        ops.may_prefer = may_prefer;
        ops.rack = rack;
        ops.speculative_submitted = speculative_submitted;
        ops.excluded = excluded;
        ops.kill_executor = kill_executor;
        ops.barrier_launching = barrier_launching;
        ops.outputs_reset = outputs_reset;
        ops.unschedulable = unschedulable;
        *f = (struct fix){.config = config ? *config : SCHED_CONFIG_DEFAULT, .run_ns = SECOND};
        f->s = sched_new(&f->config, &ops, f);
}

static int add(struct fix *f, const char *id, const char *host, int cores)
{
        return sched_add_executor(f->s, id, host, cores, f->now);
}

static void prefer(int partition, int executor, const char *host)
{
        world.places[partition][world.n_places[partition]++] = (struct task_location){executor, host};
}

/* The newest launch is of this task, there, at this level. */
static void check_launch(const struct fix *f, size_t number, int index, int executor, enum task_locality level)
{
        assert_true(number < f->tasks.len);
        assert_int_equal(f->tasks.data[number].launch.index, index);
        assert_int_equal(f->tasks.data[number].executor, executor);
        assert_int_equal(f->tasks.data[number].launch.locality, level);
}

static void wait_until(struct fix *f, int64_t now)
{
        f->now = now;
        sched_tick(f->s, now);
        sched_revive(f->s, now);
}

/* ------------------------------------------------------------------------------------------------ locality */

static void tasks_go_where_their_data_is(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h1", 1);
        add(&f, "2", "h3", 1);
        prefer(0, 2, NULL);
        prefer(1, 1, NULL);
        prefer(2, -1, "h1");
        fix_submit(&f, fix_rdd(&f, 3));
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 0, 1, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 0, 2, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 2, 2, 0, LOCALITY_NODE_LOCAL);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_core_waits_for_each_level_in_turn(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h1", 1);
        add(&f, "2", "h2", 1);
        add(&f, "3", "h5", 1);
        for (int i = 0; i < 4; i++)
                prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 4));
        assert_int_equal(f.tasks.len, 1); /* executor 0 has one core; the others are turned down */
        check_launch(&f, 0, 0, 0, LOCALITY_PROCESS_LOCAL);
        assert_int_equal(sched_deadline(f.s), 3 * (int64_t)SECOND);
        wait_until(&f, 3 * (int64_t)SECOND - 1);
        assert_int_equal(f.tasks.len, 1);
        wait_until(&f, 3 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 1, 1, 1, LOCALITY_NODE_LOCAL);
        wait_until(&f, 6 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 2, 2, 2, LOCALITY_RACK_LOCAL);
        wait_until(&f, 9 * (int64_t)SECOND);
        check_launch(&f, 3, 3, 3, LOCALITY_ANY);
        fix_drain(&f);
        fix_end(&f);
}

/* That another task of the set had an executor that is still there changes nothing. */
static void nobody_waits_for_an_executor_that_is_gone(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h1", 1);
        prefer(0, 0, NULL);
        prefer(1, 1, NULL);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        fix_succeed(&f, 0, 0);
        sched_lose_executor(f.s, 1, true, "killed", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 2, 1, 0, LOCALITY_NODE_LOCAL);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_round_without_rejects_begins_the_wait_anew(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        for (int i = 0; i < 5; i++)
                prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 5));
        f.now = 2 * (int64_t)SECOND;
        fix_succeed(&f, 0, 0); /* all that is free is used: the wait begins anew */
        add(&f, "1", "h5", 1);
        wait_until(&f, 4 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 2);
        int64_t deadline = sched_deadline(f.s);

        assert_in_range(deadline, 5 * (int64_t)SECOND, 5 * (int64_t)SECOND + 10000);
        f.now = 4500000000;
        fix_succeed(&f, 0, 1); /* executor 1 is turned down in this round: the wait goes on */
        assert_int_equal(sched_deadline(f.s), deadline);
        fix_drain(&f);
        fix_end(&f);
}

static void a_launch_resets_the_wait_in_legacy_mode(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.locality.legacy_reset = true;
        begin(&f, &config);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        for (int i = 0; i < 5; i++)
                prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 5));
        f.now = 2 * (int64_t)SECOND;
        fix_succeed(&f, 0, 0);
        assert_in_range(sched_deadline(f.s), 5 * (int64_t)SECOND, 5 * (int64_t)SECOND + 10000);
        fix_drain(&f);
        fix_end(&f);
}

static void tasks_without_preference_wait_for_nobody(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h9", 1);
        add(&f, "1", "h1", 2);
        prefer(0, 1, NULL); /* task 1 prefers nothing */
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 0, 0, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 1, 0, LOCALITY_PROCESS_LOCAL);
        fix_drain(&f);
        fix_end(&f);
}

static void preferences_for_what_is_not_there_do_not_wait(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 2);
        prefer(0, -1, "elsewhere");
        prefer(1, -1, "elsewhere");
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 0, 0, 0, LOCALITY_ANY);
        fix_drain(&f);
        fix_end(&f);
}

static void a_better_executor_that_joins_is_preferred(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "x", 1);
        prefer(0, -1, "h1");
        prefer(1, -1, "h1");
        prefer(2, -1, "h1");
        fix_submit(&f, fix_rdd(&f, 3));
        assert_int_equal(f.tasks.len, 1); /* nobody is on h1: anywhere */
        add(&f, "1", "h1", 1);
        sched_revive(f.s, f.now);
        check_launch(&f, 1, 1, 1, LOCALITY_NODE_LOCAL);
        fix_succeed(&f, 0, 0); /* now there is something to wait for */
        assert_int_equal(f.tasks.len, 2);
        sched_lose_executor(f.s, 1, false, "gone", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void locations_are_looked_for_along_narrow_dependencies(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 4);
        add(&f, "1", "h5", 4);
        prefer(0, 1, NULL);
        prefer(2, 1, NULL);
        struct lineage *source = fix_rdd(&f, 4), *coalesced = fix_rdd(&f, 2);

        fix_depend(&f, coalesced, LINEAGE_NARROW, source);
        fix_submit(&f, fix_narrow(&f, coalesced));
        check_launch(&f, 0, 0, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 1, 1, LOCALITY_PROCESS_LOCAL);
        fix_drain(&f);
        fix_end(&f);
}

static void a_run_is_of_one_level(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        f.run_ns = 1000;
        for (int i = 0; i < 16; i++)
                prefer(i, i % 2, NULL);
        fix_submit(&f, fix_rdd(&f, 16));
        fix_drain(&f);
        for (size_t i = 0; i < f.tasks.len; i++) {
                assert_int_equal(f.tasks.data[i].executor, f.tasks.data[i].launch.index % 2);
                assert_int_equal(f.tasks.data[i].launch.locality, LOCALITY_PROCESS_LOCAL);
        }
        assert_int_equal(f.accepted, 16);
        assert_true(f.runs < 16);
        fix_end(&f);
}

/* ------------------------------------------------------------------------------------------------ resources */

static void addresses_are_given_to_one_task_at_a_time(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;
        struct resource_request requests[] = {{"gpu", 2 * RESOURCE_ONE}, {"fpga", RESOURCE_ONE / 2}};
        const char *gpus[] = {"0", "1", "2", "3", "4"}, *fpgas[] = {"f"};
        struct executor_resource resources[] = {{"fpga", fpgas, 1}, {"gpu", gpus, 5}};
        struct executor_spec spec = {.id = "0", .host = "h1", .cores = 8, .resources = resources, .n_resources = 2};

        config.resources = requests;
        config.n_resources = 2;
        begin(&f, &config);
        assert_int_equal(sched_register_executor(f.s, &spec, 0), 0);
        add(&f, "none", "h1", 8);
        assert_int_equal(sched_slots(f.s), 2);
        fix_submit(&f, fix_rdd(&f, 5));
        assert_int_equal(f.tasks.len, 2);
        const struct resource_pool *pools = f.s->tasks.executors.at.data[0].resources;

        assert_true(pools[0].free[4] == RESOURCE_ONE && pools[0].free[3] == 0 && pools[1].free[0] == 0);
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        for (int i = 0; i < 5; i++)
                assert_true(pools[0].free[i] == RESOURCE_ONE);
        assert_true(pools[1].free[0] == RESOURCE_ONE);
        assert_int_equal(f.accepted, 5);
        fix_end(&f);
}

/* ------------------------------------------------------------------------------------------------ slow tasks */

static struct sched_config speculating(void)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.speculation.enabled = true;
        config.speculation.quantile = 0.5;
        config.speculation.multiplier = 2;
        config.max_run = 1;
        return config;
}

static void a_slow_task_gets_a_second_attempt_on_another_host(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        begin(&f, &config);
        add(&f, "0", "h1", 2);
        add(&f, "1", "h1", 2);
        add(&f, "2", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 5));
        assert_int_equal(f.tasks.len, 5);
        f.now = SECOND;
        for (int i = 0; i < 5; i++)
                if (i != 1)
                        fix_succeed(&f, 0, i);
        wait_until(&f, 2 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0); /* not over twice the median */
        wait_until(&f, 2100000000);
        assert_int_equal(world.speculative, 1);
        assert_int_equal(f.tasks.len, 6);
        assert_int_equal(f.tasks.data[5].executor, 2);
        assert_true(f.tasks.data[5].launch.speculative);
        assert_int_equal(f.tasks.data[5].launch.attempt, 1);
        wait_until(&f, 9 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1); /* two attempts are enough */
        fix_status(&f, 5, TASK_SUCCEEDED, NULL, NULL);
        assert_true(f.tasks.data[1].killed);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_drain(&f);
        assert_int_equal(f.accepted, 5);
        fix_end(&f);
}

static void a_long_task_that_reads_well_is_left_alone(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        config.speculation.long_run_factor = 3;
        begin(&f, &config);
        add(&f, "0", "h1", 4);
        add(&f, "1", "h5", 4);
        fix_submit(&f, fix_rdd(&f, 4));
        f.now = SECOND;
        for (int i = 1; i < 4; i++) {
                struct task_status status = {
                        .task_id = i, .state = TASK_SUCCEEDED, .run_ns = SECOND, .records = 1000, .output = 1};

                f.tasks.data[i].ended = true;
                sched_status(f.s, &status, 1, f.now);
        }
        sched_task_progress(f.s, 0, 2900, 3 * (int64_t)SECOND);
        wait_until(&f, 3 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0);
        sched_task_progress(f.s, 0, 100, 4 * (int64_t)SECOND);
        wait_until(&f, 4 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1);
        fix_drain(&f);
        fix_end(&f);
}

static void a_threshold_serves_sets_that_fit_one_executor(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        config.speculation.threshold = 60 * (int64_t)SECOND;
        begin(&f, &config);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        wait_until(&f, 60 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0);
        wait_until(&f, 61 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1);
        assert_int_equal(f.tasks.len, 2);
        fix_fail(&f, 0, 0, "the second fails"); /* the first goes on: nothing is pending */
        assert_int_equal(f.tasks.len, 2);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void the_median_is_that_of_all_numbers(void **state)
{
        struct median m = {0};
        static const int64_t values[] = {5, 1, 9, 3, 3, 100, -7, 4}, medians[] = {5, 3, 5, 4, 3, 4, 3, 3};

        assert_int_equal(median_get(&m), 0);
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
                median_add(&m, values[i]);
                assert_int_equal(median_get(&m), medians[i]);
        }
        median_deinit(&m);
}

/* ------------------------------------------------------------------------------------------------- exclusion */

static struct sched_config excluding(void)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.exclusion.stage = config.exclusion.application = true;
        config.max_run = 1;
        return config;
}

static void a_task_is_not_tried_twice_on_one_executor(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        begin(&f, &config);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 2));
        fix_fail(&f, 0, 0, "x");
        assert_int_equal(f.tasks.len, 2); /* only executor 0 is free */
        fix_succeed(&f, 0, 1);
        assert_int_equal(f.tasks.data[2].executor, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(world.excluded, 0);
        fix_end(&f);
}

static void what_can_run_nowhere_is_given_up(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        begin(&f, &config);
        add(&f, "0", "h1", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_fail(&f, 0, 0, "x"); /* the executor is idle: it is asked to go, and another is awaited */
        assert_int_equal(world.killed, 1);
        assert_int_equal(world.unschedulable, 1);
        assert_int_equal(sched_demand(f.s, -1).unschedulable, 1);
        assert_int_equal(f.jobs_ended, 0);
        assert_int_equal(sched_deadline(f.s), f.now + 120 * (int64_t)SECOND);
        fix_tick(&f);
        assert_int_equal(f.result, JOB_FAILED);
        assert_non_null(strstr(buf_text(&f.message), "Aborting TaskSet 0.0 because task 0 (partition 0)\ncannot run "
                                                     "anywhere due to node and executor excludeOnFailure.\nMost "
                                                     "recent failure:\n"));
        fix_end(&f);
}

static void a_new_executor_ends_the_waiting(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        begin(&f, &config);
        add(&f, "0", "h1", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_fail(&f, 0, 0, "x");
        add(&f, "1", "h5", 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(world.unschedulable, 0);
        assert_int_equal(sched_deadline(f.s), INT64_MAX);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void executors_and_hosts_are_excluded_from_a_stage(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        begin(&f, &config);
        add(&f, "0", "h1", 2);
        add(&f, "1", "h1", 2);
        add(&f, "2", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 9));
        for (int i = 0; i < 2; i++)
                fix_status(&f, i == 0 ? 0 : 3, TASK_FAILED, "x", NULL); /* both of executor 0 */
        assert_int_equal(world.excluded, 1);
        assert_int_equal(world.last.executor, 0);
        assert_int_equal(world.last.failures, 2);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 5);
        for (size_t i = 0; i < 5; i++)
                if (f.tasks.data[i].executor == 1)
                        fix_status(&f, (int64_t)i, TASK_FAILED, "x", NULL);
        assert_int_equal(world.excluded, 3);
        assert_int_equal(world.last.executor, -1);
        assert_string_equal(world.last.host, "h1");
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 5);
        fix_drain(&f);
        for (size_t i = 5; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].executor, 2);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        /* the stage succeeded: what failed was the executors' fault */
        assert_true(sched_executor_excluded(f.s, 0) && sched_executor_excluded(f.s, 1));
        assert_true(sched_host_excluded(f.s, "h1") && !sched_host_excluded(f.s, "h5"));
        assert_int_equal(sched_slots(f.s), 1);
        fix_tick(&f);
        assert_int_equal(world.lifted, 3);
        assert_false(sched_host_excluded(f.s, "h1"));
        assert_int_equal(sched_slots(f.s), 5);
        fix_end(&f);
}

/* ---------------------------------------------------------------------------------------- gangs */

static void a_barrier_stage_is_launched_whole_or_not(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 3), *other = fix_rdd(&f, 1);

        gang->barrier = true;
        add(&f, "1", "h5", 2);
        fix_submit(&f, other);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_submit(&f, gang);
        assert_int_equal(f.tasks.len, 2); /* two cores are free: not enough */
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.tasks.len, 5);
        assert_int_equal(world.barriers, 1);
        fix_drain(&f);
        assert_int_equal(f.jobs_ended, 3);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void one_failure_runs_the_whole_gang_again(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 3);
        struct lineage *gang = fix_rdd(&f, 3);

        gang->barrier = true;
        fix_submit(&f, gang);
        fix_succeed(&f, 0, 0);
        fix_fail(&f, 0, 1, "x");
        assert_true(f.tasks.data[2].killed);
        assert_int_equal(world.resets, 1);
        fix_tick(&f);
        assert_int_equal(f.tasks.len, 3);              /* the third has not ended */
        fix_status(&f, 2, TASK_SUCCEEDED, NULL, NULL); /* too late to count */
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 6);
        assert_int_equal(f.tasks.data[5].stage_attempt, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.accepted, 4);
        fix_end(&f);
}

static void a_gang_that_keeps_failing_is_given_up(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 2);

        gang->barrier = true;
        fix_submit(&f, fix_shuffle(&f, gang, 1));
        for (int i = 0; i < 4; i++) {
                fix_fail(&f, 0, 0, "x");
                fix_status(&f, fix_running(&f, 0, 1), TASK_KILLED, "killed", NULL);
                if (i < 3)
                        fix_tick(&f);
        }
        assert_int_equal(f.result, JOB_FAILED);
        assert_non_null(strstr(buf_text(&f.message), "has failed the maximum allowable number of times: 4"));
        fix_end(&f);
}

static void a_gang_larger_than_the_cluster_is_refused(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.barrier_check_max_failures = 2;
        begin(&f, &config);
        add(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 3);

        gang->barrier = true;
        fix_submit(&f, gang);
        assert_int_equal(sched_deadline(f.s), 15 * (int64_t)SECOND);
        fix_tick(&f);
        assert_int_equal(f.jobs_ended, 0);
        fix_tick(&f);
        assert_non_null(strstr(buf_text(&f.message), "[SPARK-24819]: Barrier execution mode does not allow run a"));
        fix_submit(&f, gang);
        add(&f, "1", "h1", 1);
        fix_tick(&f);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

/* --------------------------------------------------------------------- results, losses, suspects, demand */

static void results_that_are_too_large_abort_the_stage(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_result_size = 2 << 20;
        begin(&f, &config);
        add(&f, "0", "h1", 3);
        fix_submit(&f, fix_rdd(&f, 3));
        assert_true(sched_result_fits(f.s, 0, 1 << 20, f.now));
        assert_true(sched_result_fits(f.s, 1, 1 << 20, f.now));
        assert_false(sched_result_fits(f.s, 2, 1 << 20, f.now));
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Total size of serialized results of 3 tasks (3.0 MiB) "
                            "is bigger than spark.driver.maxResultSize (2.0 MiB)");
        assert_false(sched_result_fits(f.s, 2, 1, f.now));
        fix_drain(&f);
        fix_end(&f);
}

static void the_named_suspect_runs_apart(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 2);
        add(&f, "1", "h5", 2);
        fix_submit(&f, fix_rdd(&f, 4));
        sched_suspect_task(f.s, 2);
        assert_int_equal(f.tasks.data[2].executor, 0);
        sched_lose_executor(f.s, 0, true, "killed by signal 11", f.now);
        for (int i = 0; i < 2; i++)
                fix_succeed_id(&f, 1 + 2 * i);
        for (size_t i = 4; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].launch.suspect, f.tasks.data[i].launch.index == 2);
        assert_int_equal(f.tasks.len, 6);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void decommissioned_and_disabled_executors_take_nothing_new(void **state)
{
        struct fix f;

        begin(&f, NULL);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        sched_decommission_executor(f.s, 0, false);
        sched_disable_executor(f.s, 1);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 0);
        assert_int_equal(sched_demand(f.s, 0).pending, 2);
        sched_enable_executor(f.s, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 1);
        assert_int_equal(sched_demand(f.s, 0).pending, 1);
        assert_int_equal(sched_demand(f.s, 0).running, 1);
        assert_true(sched_kill_task(f.s, 0, true, "by hand"));
        assert_true(f.tasks.data[0].killed);
        fix_drain(&f);
        assert_false(sched_kill_task(f.s, 0, true, "by hand"));
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void fetch_failures_from_the_decommissioned_do_not_count(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_stage_attempts = 1;
        begin(&f, &config);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h5", 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 1));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        sched_decommission_executor(f.s, 0, false);
        fix_fetch_failed(&f, 1, 0, 0, 0, 0);
        assert_int_equal(f.jobs_ended, 0);
        fix_tick(&f);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_lost_host_takes_all_its_outputs(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.outputs_outlive_executors = true;
        begin(&f, &config);
        add(&f, "0", "h1", 1);
        add(&f, "1", "h1", 1);
        add(&f, "2", "h5", 1);
        struct lineage *reduced = fix_shuffle(&f, fix_rdd(&f, 3), 1);

        fix_submit(&f, reduced);
        fix_drain(&f);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 3);
        sched_lose_host(f.s, "h1", "worker lost", f.now);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 1);
        sched_lose_host(f.s, "unknown", NULL, f.now);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tasks_go_where_their_data_is),
                cmocka_unit_test(a_core_waits_for_each_level_in_turn),
                cmocka_unit_test(nobody_waits_for_an_executor_that_is_gone),
                cmocka_unit_test(a_round_without_rejects_begins_the_wait_anew),
                cmocka_unit_test(a_launch_resets_the_wait_in_legacy_mode),
                cmocka_unit_test(tasks_without_preference_wait_for_nobody),
                cmocka_unit_test(preferences_for_what_is_not_there_do_not_wait),
                cmocka_unit_test(a_better_executor_that_joins_is_preferred),
                cmocka_unit_test(locations_are_looked_for_along_narrow_dependencies),
                cmocka_unit_test(a_run_is_of_one_level),
                cmocka_unit_test(addresses_are_given_to_one_task_at_a_time),
                cmocka_unit_test(a_slow_task_gets_a_second_attempt_on_another_host),
                cmocka_unit_test(a_long_task_that_reads_well_is_left_alone),
                cmocka_unit_test(a_threshold_serves_sets_that_fit_one_executor),
                cmocka_unit_test(the_median_is_that_of_all_numbers),
                cmocka_unit_test(a_task_is_not_tried_twice_on_one_executor),
                cmocka_unit_test(what_can_run_nowhere_is_given_up),
                cmocka_unit_test(a_new_executor_ends_the_waiting),
                cmocka_unit_test(executors_and_hosts_are_excluded_from_a_stage),
                cmocka_unit_test(a_barrier_stage_is_launched_whole_or_not),
                cmocka_unit_test(one_failure_runs_the_whole_gang_again),
                cmocka_unit_test(a_gang_that_keeps_failing_is_given_up),
                cmocka_unit_test(a_gang_larger_than_the_cluster_is_refused),
                cmocka_unit_test(results_that_are_too_large_abort_the_stage),
                cmocka_unit_test(the_named_suspect_runs_apart),
                cmocka_unit_test(decommissioned_and_disabled_executors_take_nothing_new),
                cmocka_unit_test(fetch_failures_from_the_decommissioned_do_not_count),
                cmocka_unit_test(a_lost_host_takes_all_its_outputs),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/offers", tests, NULL, NULL);
}
