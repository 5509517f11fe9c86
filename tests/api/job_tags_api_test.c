/* Tests tags of jobs: changes of the list, and cancelling by tag. */
#include "api/api_fixture.h"

static void adds_and_removes_tags(void **state)
{
        fst_context *sc = *state;
        assert_string_equal(fst_job_tags(sc), "");
        assert_int_equal(fst_add_job_tag(sc, "a"), 0);
        assert_int_equal(fst_add_job_tag(sc, "ab"), 0);
        assert_int_equal(fst_add_job_tag(sc, "a"), 0);
        assert_string_equal(fst_job_tags(sc), "ab,a");
        assert_int_equal(fst_remove_job_tag(sc, "b"), 0);
        assert_int_equal(fst_remove_job_tag(sc, "ab"), 0);
        assert_string_equal(fst_job_tags(sc), "a");
        assert_int_equal(fst_add_job_tag(sc, "a,b"), -EINVAL);
        assert_int_equal(fst_add_job_tag(sc, ""), -EINVAL);
        assert_int_equal(fst_remove_job_tag(sc, ""), -EINVAL);
        fst_clear_job_tags(sc);
        assert_string_equal(fst_job_tags(sc), "");
}

static int running; /* atomic: this process is the only executor */

static int64_t wait_until_stopped(fst_task *task, int64_t x)
{
        __atomic_store_n(&running, 1, __ATOMIC_RELAXED);
        while (!fst_task_interrupted(task))
                usleep(1000);
        return x;
}

struct asking {
        fst_context *sc;
        int result;
};

static void *ask(void *arg)
{
        struct asking *a = arg;
        int64_t n;
        fst_add_job_tag(a->sc, "slow");
        fst_add_job_tag(a->sc, "other");
        fst_set_interrupt_on_cancel(a->sc, true);
        a->result = fst_count(fst_map(fst_range_n(a->sc, 0, 2, 1), wait_until_stopped, FST_I64), &n);
        return NULL;
}

static void cancels_jobs_with_the_tag(void **state)
{
        fst_context *sc = *state;
        struct asking a = {sc, 0};
        pthread_t thread;
        int64_t n;
        pthread_create(&thread, NULL, ask, &a);
        while (!__atomic_load_n(&running, __ATOMIC_RELAXED))
                usleep(1000);
        fst_cancel_jobs_with_tag(sc, "slo");
        assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 1), &n), 0);
        fst_cancel_jobs_with_tag(sc, "slow");
        pthread_join(thread, NULL);
        assert_int_equal(a.result, -ECANCELED);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(adds_and_removes_tags, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(cancels_jobs_with_the_tag, api_setup, api_teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
