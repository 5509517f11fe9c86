/* Jobs come out by time, and in the order of their queueing if that is equal. */
#include "submit/api/job_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_queue_has_no_first_job(void **state)
{
        struct job_queue q = {0};
        assert_null(job_queue_first(&q));
        job_queue_add(&q, NULL, JOB_POLL, 5);
        assert_int_equal(job_queue_first(&q)->kind, JOB_POLL);
        assert_int_equal(q.starts, 0);
        assert_int_equal(job_queue_take(&q).due_ms, 5);
        assert_null(job_queue_first(&q));
        job_queue_deinit(&q);
}

static void random_jobs_come_in_order(void **state)
{
        unsigned seed = 1;
        for (int world = 0; world < 50; world++) {
                struct job_queue q = {0};
                int64_t due = -1;
                uint64_t number = 0;
                size_t n = 0;
                for (int i = 0; i < 500; i++, n++)
                        job_queue_add(&q, NULL, JOB_START, rand_r(&seed) % 50);
                while (job_queue_first(&q)) {
                        const struct queued_job first = *job_queue_first(&q), taken = job_queue_take(&q);
                        assert_int_equal(first.number, taken.number);
                        assert_true(taken.due_ms > due || (taken.due_ms == due && taken.number > number));
                        due = taken.due_ms;
                        number = taken.number;
                        n--;
                        if (rand_r(&seed) % 4 == 0) { /* a later one, as a poll that queues the next */
                                job_queue_add(&q, NULL, JOB_POLL, due + 1 + rand_r(&seed) % 9);
                                n++;
                        }
                }
                assert_int_equal(n, 0);
                job_queue_deinit(&q);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_empty_queue_has_no_first_job),
                cmocka_unit_test(random_jobs_come_in_order),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
