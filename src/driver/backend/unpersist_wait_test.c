/* Tests waiting for answers. The last answer may come before the wait, or never. */
#include "driver/backend/unpersist_wait.h"

#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>
#include <cmocka.h>

static void wait_returns_after_earlier_answers(void **state)
{
        struct unpersist_waits *waits = unpersist_waits_new();
        struct unpersist_wait *wait = unpersist_wait_begin(waits);
        unpersist_wait_expect(wait);
        unpersist_wait_answered(wait);
        unpersist_wait_answered(wait);
        unpersist_wait_end(wait);
        unpersist_waits_free(waits);
        unpersist_waits_free(NULL);
}

struct waiter {
        struct unpersist_wait *wait;
        atomic_bool over;
};

static void *waits_for(void *arg)
{
        struct waiter *w = arg;
        unpersist_wait_end(w->wait);
        atomic_store(&w->over, true);
        return NULL;
}

static void wait_ends_with_last_answer(void **state)
{
        struct unpersist_waits *waits = unpersist_waits_new();
        struct waiter w[2] = {{unpersist_wait_begin(waits)}, {unpersist_wait_begin(waits)}};
        pthread_t threads[2];
        unpersist_wait_expect(w[0].wait);
        for (int i = 0; i < 2; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, waits_for, &w[i]), 0);
        unpersist_wait_answered(w[1].wait);
        pthread_join(threads[1], NULL);
        unpersist_wait_answered(w[0].wait);
        assert_false(atomic_load(&w[0].over)); /* one is missing */
        unpersist_wait_answered(w[0].wait);
        pthread_join(threads[0], NULL);
        unpersist_waits_free(waits);
}

static void wait_ends_when_waits_are_freed(void **state)
{
        struct unpersist_waits *waits = unpersist_waits_new();
        struct waiter w = {unpersist_wait_begin(waits)};
        struct unpersist_wait *left = unpersist_wait_begin(waits);
        pthread_t thread;
        unpersist_wait_expect(left);
        unpersist_wait_answered(left);
        assert_int_equal(pthread_create(&thread, NULL, waits_for, &w), 0);
        pthread_t other;
        struct waiter second = {left};
        assert_int_equal(pthread_create(&other, NULL, waits_for, &second), 0);
        unpersist_waits_free(waits);
        pthread_join(thread, NULL);
        pthread_join(other, NULL);
        assert_true(atomic_load(&w.over));
        assert_true(atomic_load(&second.over));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(wait_returns_after_earlier_answers),
                cmocka_unit_test(wait_ends_with_last_answer),
                cmocka_unit_test(wait_ends_when_waits_are_freed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
