/*
 * Resource profiles: where tasks of a profile run and how many at once, as in the cases of Spark's
 * TaskSchedulerImplSuite and DAGSchedulerSuite for resource profiles.
 */
#include "sched/tasks/offers_fixture.h"

static struct {
        struct task_profile profiles[4]; /* by id */
        bool merges;
        int asked;
} table;

static const struct task_profile *profile(void *owner, const int *ids, int n)
{
        table.asked++;
        return n == 1 || table.merges ? &table.profiles[ids[n - 1]] : NULL;
}

static void profile_begin(struct fix *f, const struct sched_config *config)
{
        memset(&table, 0, sizeof(table));
        for (int i = 1; i < 4; i++)
                table.profiles[i] = (struct task_profile){.id = i, .cpus = 1};
        offers_begin(f, config);
        ops.profile = profile;
}

static int profile_add_executor(struct fix *f, int id, int cores, int of)
{
        char name[16];

        snprintf(name, sizeof(name), "%d", id);
        return sched_register_executor(
                f->s, &(struct executor_spec){.id = name, .host = "h1", .cores = cores, .profile = of}, f->now);
}

static struct lineage *profile_rdd(struct fix *f, int partitions, int of)
{
        struct lineage *rdd = fix_rdd(f, partitions);

        rdd->profile = of;
        return rdd;
}

static void tasks_run_only_on_executors_of_their_profile(void **state)
{
        struct fix f;

        profile_begin(&f, NULL);
        profile_add_executor(&f, 0, 4, 0);
        fix_submit(&f, profile_rdd(&f, 3, 1));
        assert_int_equal(f.tasks.len, 0);
        profile_add_executor(&f, 1, 2, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 2);
        fix_submit(&f, fix_rdd(&f, 6)); /* the default profile */
        assert_int_equal(f.tasks.len, 6);
        for (size_t i = 0; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].executor, i < 2 ? 1 : 0);
        fix_drain(&f);
        assert_int_equal(f.accepted, 9);
        assert_int_equal(table.asked, 1);
        fix_end(&f);
}

static void a_task_profile_takes_its_own_number_of_cores(void **state)
{
        struct fix f;

        profile_begin(&f, NULL);
        table.profiles[1] = (struct task_profile){.id = 1, .cpus = 3, .any_executor = true};
        profile_add_executor(&f, 0, 4, 0);
        fix_submit(&f, profile_rdd(&f, 2, 1));
        assert_int_equal(f.tasks.len, 1);
        fix_submit(&f, fix_rdd(&f, 2)); /* one of one core fits beside it */
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[1].stage, 1);
        fix_drain(&f);
        assert_int_equal(f.accepted, 4);
        assert_int_equal(f.s->tasks.executors.at.data[0].free, 4);
        fix_end(&f);
}

/* Cores that are too few for the default profile are enough for another one that is used later. */
static void a_profile_with_fewer_cores_uses_the_rest(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.task_cpus = 2;
        profile_begin(&f, &config);
        table.profiles[1].any_executor = true;
        profile_add_executor(&f, 0, 3, 0);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 1);
        fix_submit(&f, profile_rdd(&f, 1, 1));
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[1].stage, 1);
        fix_drain(&f);
        assert_int_equal(f.accepted, 3);
        fix_end(&f);
}

static void profiles_share_the_addresses_of_an_executor(void **state)
{
        struct fix f;
        struct resource_request half = {"gpu", RESOURCE_ONE / 2}, two = {"gpu", 2 * RESOURCE_ONE};
        const char *gpus[] = {"0", "1", "2"};
        struct executor_resource gpu = {"gpu", gpus, 3};
        struct executor_spec spec = {.id = "0", .host = "h1", .cores = 8, .resources = &gpu, .n_resources = 1};

        profile_begin(&f, NULL);
        table.profiles[1] =
                (struct task_profile){.id = 1, .cpus = 1, .any_executor = true, .requests = &half, .n_requests = 1};
        table.profiles[2] =
                (struct task_profile){.id = 2, .cpus = 1, .any_executor = true, .requests = &two, .n_requests = 1};
        sched_register_executor(f.s, &spec, 0);
        fix_submit(&f, profile_rdd(&f, 1, 1));
        fix_submit(&f, profile_rdd(&f, 2, 2));
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[1].launch.n_resources, 1);
        assert_int_equal(f.tasks.data[1].launch.resources[0].n, 2);
        fix_submit(&f, profile_rdd(&f, 2, 1)); /* the other half of the first address */
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        assert_int_equal(f.accepted, 5);
        const struct resource_pool *pool = f.s->tasks.executors.at.data[0].resources;

        for (int i = 0; i < 3; i++)
                assert_true(pool->free[i] == RESOURCE_ONE);
        fix_end(&f);
}

static void a_barrier_stage_counts_the_slots_of_its_profile(void **state)
{
        struct fix f;
        struct lineage *gang;

        profile_begin(&f, NULL);
        profile_add_executor(&f, 0, 8, 0);
        profile_add_executor(&f, 1, 1, 1);
        gang = profile_rdd(&f, 2, 1);
        gang->barrier = true;
        fix_submit(&f, gang);
        assert_int_equal(f.tasks.len, 0);
        profile_add_executor(&f, 2, 1, 1);
        fix_tick(&f);
        assert_int_equal(f.tasks.len, 2);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void several_profiles_in_a_stage_fail_the_job(void **state)
{
        struct fix f;
        struct lineage *child;

        profile_begin(&f, NULL);
        profile_add_executor(&f, 0, 8, 1);
        child = fix_narrow(&f, profile_rdd(&f, 2, 2));
        child->profile = 1;
        fix_submit(&f, child);
        assert_int_equal(f.jobs_ended, 1);
        assert_int_equal(f.result, JOB_FAILED);
        assert_memory_equal(buf_text(&f.message), "Multiple ResourceProfiles specified", 35);
        assert_int_equal(f.tasks.len, 0);
        fix_submit(&f, fix_shuffle(&f, child, 1)); /* the map stage has the conflict */
        assert_int_equal(f.jobs_ended, 2);
        table.merges = true;
        profile_add_executor(&f, 1, 8, 2);
        fix_submit(&f, child);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[0].executor, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

/* Executors of another profile do not make a set unschedulable, and do not keep it from being so. */
static void exclusion_counts_only_executors_of_the_profile(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.exclusion.stage = true;
        config.max_failures = 4;
        profile_begin(&f, &config);
        profile_add_executor(&f, 0, 2, 0);
        profile_add_executor(&f, 1, 1, 1);
        fix_submit(&f, profile_rdd(&f, 1, 1));
        fix_fail(&f, 0, 0, "broken");
        struct executor_kill kill;
        assert_true(sched_next_kill(f.s, &kill)); /* so that another executor of the profile is started */
        assert_int_equal(kill.executor, 1);
        free(kill.reason);
        assert_int_equal(world.unschedulable, 1);
        fix_tick(&f);
        assert_int_equal(f.jobs_ended, 1);
        assert_non_null(strstr(buf_text(&f.message), "cannot run anywhere"));
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tasks_run_only_on_executors_of_their_profile),
                cmocka_unit_test(a_task_profile_takes_its_own_number_of_cores),
                cmocka_unit_test(a_profile_with_fewer_cores_uses_the_rest),
                cmocka_unit_test(profiles_share_the_addresses_of_an_executor),
                cmocka_unit_test(a_barrier_stage_counts_the_slots_of_its_profile),
                cmocka_unit_test(several_profiles_in_a_stage_fail_the_job),
                cmocka_unit_test(exclusion_counts_only_executors_of_the_profile),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/profile", tests, NULL, NULL);
}
