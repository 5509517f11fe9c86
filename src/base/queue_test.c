/* The queue: order, growth, and reuse of popped space. */
#include "base/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void pops_in_order_of_pushes(void **state)
{
        QUEUE(int) q = {0};
        int x = -1;

        assert_false(queue_pop(&q, &x));
        assert_int_equal(x, -1);
        for (int i = 0; i < 100; i++)
                queue_push(&q, i);
        for (int i = 0; i < 100; i++) {
                assert_true(queue_pop(&q, &x));
                assert_int_equal(x, i);
        }
        assert_true(queue_is_empty(&q));
        assert_false(queue_pop(&q, &x));
        queue_deinit(&q);
}

static void takes_pushes_while_it_is_drained(void **state)
{
        QUEUE(int) q = {0};
        int popped = 0;

        queue_push(&q, 0);
        for (int x; queue_pop(&q, &x); popped++) {
                assert_int_equal(x, popped);
                if (x < 500) {
                        queue_push(&q, 2 * x + 1);
                        queue_push(&q, 2 * x + 2);
                }
        }
        assert_int_equal(popped, 1001);
        queue_deinit(&q);
}

static void does_not_grow_when_it_is_never_empty(void **state)
{
        QUEUE(int) q = {0};
        int x;

        for (int i = 0; i < 5; i++)
                queue_push(&q, i);
        for (int i = 5; i < 100000; i++) {
                queue_push(&q, i);
                assert_true(queue_pop(&q, &x));
                assert_int_equal(x, i - 5);
        }
        assert_true(q.cap <= 32);
        queue_deinit(&q);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pops_in_order_of_pushes),
                cmocka_unit_test(takes_pushes_while_it_is_drained),
                cmocka_unit_test(does_not_grow_when_it_is_never_empty),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
