/* The window under each kind of response. */
#include "kubernetes/executors/create_window.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS(n) ((n)*NS_PER_MS)

static struct create_window a_window(void)
{
        struct create_window w;

        create_window_init(&w, &CREATE_WINDOW_DEFAULT);
        return w;
}

/* Sends all that the window allows and gives each the same response. Returns the number sent. */
static int round_of(struct create_window *w, enum create_outcome outcome, int64_t now)
{
        int n = create_window_room(w, now);

        for (int i = 0; i < n; i++)
                create_window_sent(w);
        assert_int_equal(create_window_room(w, now), 0);
        for (int i = 0; i < n; i++)
                create_window_answered(w, outcome, 0, now);
        assert_int_equal(w->in_flight, 0);
        return n;
}

static void starts_with_batch_and_doubles(void **state)
{
        struct create_window w = a_window();

        assert_int_equal(round_of(&w, CREATE_DONE, 0), 20);
        assert_in_range(round_of(&w, CREATE_DONE, 0), 25, 40);
        for (int i = 0; i < 10; i++)
                round_of(&w, CREATE_DONE, 0);
        assert_int_equal(create_window_room(&w, 0), 128);

        /* As the allocator uses it: each response releases the next one or two. */
        w = a_window();
        int sent = 0;
        for (; create_window_room(&w, 0) > 0; sent++)
                create_window_sent(&w);
        for (int i = 0; i < 20; i++) {
                create_window_answered(&w, CREATE_DONE, 0, 0);
                for (; create_window_room(&w, 0) > 0; sent++)
                        create_window_sent(&w);
        }
        assert_int_equal(w.size, 40);
        assert_int_equal(sent, 60);
}

static void does_not_grow_unless_full(void **state)
{
        struct create_window w = a_window();

        for (int i = 0; i < 100; i++) {
                create_window_sent(&w);
                create_window_answered(&w, CREATE_DONE, 0, i);
        }
        assert_int_equal(w.size, 20);
}

static void throttling_halves_once_per_batch(void **state)
{
        struct create_window w = a_window();

        round_of(&w, CREATE_DONE, 0);
        w.size = 80;
        assert_int_equal(round_of(&w, CREATE_SLOW_DOWN, MS(100)), 80);
        assert_int_equal(w.size, 40);
        assert_int_equal(w.threshold, 40);
        int64_t first = create_window_deadline(&w, MS(100));
        assert_in_range(first, MS(175), MS(225));
        assert_int_equal(create_window_room(&w, first - 1), 0);
        assert_int_equal(create_window_room(&w, first), 40);

        /* Again: half the size, after twice the pause. */
        assert_int_equal(round_of(&w, CREATE_SLOW_DOWN, first), 40);
        assert_int_equal(w.size, 20);
        int64_t second = create_window_deadline(&w, first);
        assert_in_range(second - first, MS(150), MS(250));

        /* Above half of the size that was too much it grows by one per window. */
        assert_int_equal(w.threshold, 20);
        assert_int_equal(round_of(&w, CREATE_DONE, second), 20);
        assert_in_range(w.size, 20, 21);
        for (int i = 0; i < 4; i++)
                round_of(&w, CREATE_DONE, second);
        assert_in_range(w.size, 21, 25);
        assert_int_equal(w.pause, 0);
}

static void retried_throttled_creation_halves(void **state)
{
        struct create_window w = a_window();

        for (int i = 0; i < 20; i++)
                create_window_sent(&w);
        for (int i = 0; i < 20; i++) {
                create_window_throttled(&w);
                create_window_answered(&w, CREATE_DONE, 0, 0);
        }
        assert_int_equal(w.size, 10);
        assert_int_equal(create_window_room(&w, 0), 10); /* no pause: the client has paused */
}

static void obeys_retry_after(void **state)
{
        struct create_window w = a_window();

        create_window_sent(&w);
        create_window_answered(&w, CREATE_SLOW_DOWN, MS(7000), MS(100));
        assert_true(create_window_deadline(&w, MS(100)) == MS(7100));
        assert_true(create_window_deadline(&w, MS(7100)) == INT64_MAX);
}

static void full_quota_reduces_to_one_with_long_pause(void **state)
{
        struct create_window w = a_window();
        int64_t now = 0, pause = 0;

        assert_int_equal(round_of(&w, CREATE_QUOTA, now), 20);
        for (int i = 0; i < 8; i++) {
                int64_t until = create_window_deadline(&w, now);
                assert_true(until - now >= pause * 5 / 4 || pause >= MS(22000));
                pause = until - now;
                now = until;
                assert_int_equal(round_of(&w, CREATE_QUOTA, now), 1);
        }
        assert_in_range(create_window_deadline(&w, now) - now, MS(22500), MS(37500));

        /* A pod ended: there may be room at once. */
        create_window_freed(&w, now);
        assert_true(create_window_deadline(&w, now) == now + MS(100));
        now += MS(100);
        assert_int_equal(round_of(&w, CREATE_DONE, now), 1);
        assert_int_equal(round_of(&w, CREATE_DONE, now), 2);
        create_window_freed(&w, now);
        assert_true(create_window_deadline(&w, now) == INT64_MAX);
}

static void unreachable_server_lengthens_pause(void **state)
{
        struct create_window w = a_window();

        assert_int_equal(round_of(&w, CREATE_UNKNOWN, 0), 20);
        assert_in_range(create_window_deadline(&w, 0), MS(750), MS(1250));
        create_window_freed(&w, 0); /* not held by a quota */
        assert_true(create_window_deadline(&w, 0) > MS(100));
        assert_int_equal(round_of(&w, CREATE_DONE, MS(2000)), 1);
        for (int i = 0; i < 12; i++)
                round_of(&w, CREATE_DONE, MS(2000));
        assert_in_range(w.size, 10, 20); /* fast up to half of the former size, then slowly */
}

static void refusals_are_retried_in_batches(void **state)
{
        struct create_window w = a_window();

        for (int64_t now = 0; now < MS(10000); now += MS(1000))
                assert_int_equal(round_of(&w, CREATE_REFUSED, now), 20);
}

static void ignores_responses_from_before_throttling(void **state)
{
        struct create_window w = a_window();

        for (int i = 0; i < 20; i++)
                create_window_sent(&w);
        create_window_answered(&w, CREATE_SLOW_DOWN, 0, 0);
        for (int i = 0; i < 9; i++)
                create_window_answered(&w, CREATE_DONE, 0, 0);
        for (int i = 0; i < 10; i++)
                create_window_answered(&w, CREATE_SLOW_DOWN, 0, 0);
        assert_int_equal(w.size, 10);
        assert_true(w.pause == MS(100));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(starts_with_batch_and_doubles),
                cmocka_unit_test(does_not_grow_unless_full),
                cmocka_unit_test(throttling_halves_once_per_batch),
                cmocka_unit_test(retried_throttled_creation_halves),
                cmocka_unit_test(obeys_retry_after),
                cmocka_unit_test(full_quota_reduces_to_one_with_long_pause),
                cmocka_unit_test(unreachable_server_lengthens_pause),
                cmocka_unit_test(refusals_are_retried_in_batches),
                cmocka_unit_test(ignores_responses_from_before_throttling),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
