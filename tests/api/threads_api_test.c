/* Tests a context that several threads use: which calls wait for each other, shared state, and cleanup. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "api/gate_fixture.h"
#include "driver/context.h"

static int64_t held(fst_task *task, int64_t x)
{
        gate_pass(task);
        return -x;
}

static int wait_for_stop(fst_task *task, int64_t x)
{
        gate_pass(task);
        return 0;
}

struct counting {
        fst_context *sc;
        fst_rdd *rdd;
        const char *group;
        int64_t n;
        int status, done;
};

static void *count_it(void *arg)
{
        struct counting *c = arg;
        fst_set_local_property(c->sc, "spark.jobGroup.id", c->group);
        c->status = fst_count(c->rdd, &c->n);
        __atomic_store_n(&c->done, 1, __ATOMIC_RELAXED);
        return NULL;
}

static void action_without_bounds_does_not_wait(void **state)
{
        fst_rdd *sorted = fst_sort_by_n(fst_map(fst_range_n(*state, 0, 100, 1), held, FST_I64), fst_fn_identity, FST_I64,
                                        FST_ASCENDING, 4);
        struct counting c = {.sc = *state, .rdd = sorted, .group = "a"};
        fst_rdd *other = fst_sort_by_n(fst_range_n(*state, 0, 1000, 4), fst_fn_identity, FST_I64, FST_DESCENDING, 3);
        pthread_t thread;
        int64_t n;
        gate_close();
        assert_int_equal(pthread_create(&thread, NULL, count_it, &c), 0);
        gate_await(1);
        assert_int_equal(fst_count(fst_range_n(*state, 0, 1000, 4), &n), 0);
        assert_int_equal(n, 1000);
        assert_int_equal(fst_count(other, &n), 0); /* has its own bounds */
        assert_int_equal(n, 1000);
        assert_int_equal(__atomic_load_n(&c.done, __ATOMIC_RELAXED), 0);
        gate_open();
        pthread_join(thread, NULL);
        assert_int_equal(c.status, 0);
        assert_int_equal(c.n, 100);
}

/* Waits until another thread waits for bounds that are being computed. */
static void await_waiting_thread(fst_context *sc)
{
        for (int n = 0; n == 0;) {
                pthread_mutex_lock(&sc->prepare);
                n = sc->n_awaiting;
                pthread_mutex_unlock(&sc->prepare);
                if (n == 0)
                        usleep(500);
        }
}

static void cancelled_sampling_fails_only_its_action(void **state)
{
        fst_rdd *sorted = fst_sort_by_n(fst_map(fst_range_n(*state, 0, 100, 1), held, FST_I64), fst_fn_identity, FST_I64,
                                        FST_ASCENDING, 4);
        struct counting a = {.sc = *state, .rdd = sorted, .group = "a"},
                        b = {.sc = *state, .rdd = sorted, .group = "b"};
        pthread_t first, second;
        gate_close();
        assert_int_equal(pthread_create(&first, NULL, count_it, &a), 0);
        gate_await(1);
        assert_int_equal(pthread_create(&second, NULL, count_it, &b), 0);
        await_waiting_thread(*state);
        fst_cancel_job_group(*state, "a");
        pthread_join(first, NULL);
        assert_int_equal(a.status, -ECANCELED);
        gate_open();
        pthread_join(second, NULL);
        assert_int_equal(b.status, 0);
        assert_int_equal(b.n, 100);
}

static void names_change_while_jobs_run(void **state)
{
        fst_rdd *rdd = fst_map(fst_range_n(*state, 0, 100, 4), held, FST_I64);
        struct counting c = {.sc = *state, .rdd = rdd, .group = "a"};
        gate_close();
        gate_open();
        for (int round = 0; round < 10; round++) {
                pthread_t thread;
                assert_int_equal(pthread_create(&thread, NULL, count_it, &c), 0);
                for (int i = 0; i < 50; i++) {
                        char name[32];
                        snprintf(name, sizeof(name), "name %d", i);
                        fst_rdd_set_name(rdd, i % 3 ? name : NULL);
                }
                pthread_join(thread, NULL);
                assert_int_equal(c.status, 0);
        }
}

/* A thread that outlives the context. */
static pthread_barrier_t set, stopped;

static void *outlive(void *arg)
{
        fst_set_local_property(arg, "spark.scheduler.pool", "fast");
        pthread_barrier_wait(&set);
        pthread_barrier_wait(&stopped);
        return NULL;
}

static void *set_one(void *arg)
{
        fst_set_local_property(arg, "spark.scheduler.pool", "fast");
        return NULL;
}

static void frees_properties_with_thread_or_context(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        pthread_t longer, shorter;
        pthread_barrier_init(&set, NULL, 2);
        pthread_barrier_init(&stopped, NULL, 2);
        assert_int_equal(pthread_create(&longer, NULL, outlive, sc), 0);
        assert_int_equal(pthread_create(&shorter, NULL, set_one, sc), 0);
        pthread_join(shorter, NULL);
        pthread_barrier_wait(&set);
        fst_set_local_property(sc, "a", "1");
        assert_int_equal(fst_context_stop(sc), 0);
        fst_context *other = api_context("local[2]", NULL);
        assert_null(fst_local_property(other, "a"));
        fst_set_local_property(other, "a", "2");
        pthread_barrier_wait(&stopped);
        pthread_join(longer, NULL);
        assert_string_equal(fst_local_property(other, "a"), "2");
        assert_int_equal(fst_context_stop(other), 0);
        pthread_barrier_destroy(&set);
        pthread_barrier_destroy(&stopped);
}

static void *run_for_ever(void *arg)
{
        struct counting *c = arg;
        c->status = fst_foreach(c->rdd, wait_for_stop);
        return NULL;
}

static void stop_reports_actions_that_it_ended(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        struct counting c = {.sc = sc, .rdd = fst_range_n(sc, 0, 4, 2)};
        pthread_t thread;
        gate_close();
        assert_int_equal(pthread_create(&thread, NULL, run_for_ever, &c), 0);
        gate_await(1);
        assert_int_equal(fst_context_stop(sc), -ECANCELED);
        pthread_join(thread, NULL);
        assert_int_equal(c.status, -ECANCELED);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(action_without_bounds_does_not_wait),
                cmocka_unit_test(cancelled_sampling_fails_only_its_action),
                cmocka_unit_test(names_change_while_jobs_run),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(frees_properties_with_thread_or_context),
                cmocka_unit_test(stop_reports_actions_that_it_ended),
        };
        int failed = cmocka_run_group_tests(tests, api_setup, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
