/* Tests turns with executors that fetch a piece, die, and whose value is removed. */
#include "driver/messages/broadcast_turns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct block_name piece = {.kind = BLOCK_BROADCAST, .id = (int64_t)1 << 62, .part = 0};

/* Lets @n askers ask, which are numbers from 1, and returns how many wait. */
static int ask(struct broadcast_turns *t, int n, int64_t now)
{
        int waiting = 0;
        for (intptr_t i = 1; i <= n; i++)
                waiting += !broadcast_turns_ask(t, piece, (void *)i, now);
        return waiting;
}

static int answer(struct broadcast_turns *t, int64_t now)
{
        struct block_name of;
        int n = 0;
        for (; broadcast_turns_next(t, now, &of); n++)
                assert_int_equal(of.id, piece.id);
        return n;
}

static void each_holder_serves_four(void **state)
{
        struct broadcast_turns *t = broadcast_turns_new();
        assert_int_equal(ask(t, 10000, 0), 10000 - BROADCAST_TURNS);
        assert_int_equal(answer(t, 1), 0);
        int fetching = BROADCAST_TURNS, waiting = 10000 - BROADCAST_TURNS, rounds = 0;
        for (; fetching; rounds++) {
                for (int i = 0; i < fetching; i++)
                        broadcast_turns_held(t, piece);
                fetching = answer(t, 1);
                waiting -= fetching;
        }
        assert_int_equal(waiting, 0);
        assert_in_range(rounds, 5, 7); /* 5^6 > 10,000 */
        assert_int_equal(broadcast_turns_deadline(t), INT64_MAX);
        assert_int_equal(ask(t, 1, 2), 0);
        broadcast_turns_free(t);
}

static void dead_fetchers_delay_others_briefly(void **state)
{
        struct broadcast_turns *t = broadcast_turns_new();
        assert_int_equal(ask(t, BROADCAST_TURNS + 6, 100), 6);
        assert_int_equal(broadcast_turns_deadline(t), 100 + BROADCAST_TURN_TIMEOUT);
        assert_int_equal(answer(t, 99 + BROADCAST_TURN_TIMEOUT), 0);
        assert_int_equal(answer(t, 100 + BROADCAST_TURN_TIMEOUT), BROADCAST_TURNS);
        int64_t again = broadcast_turns_deadline(t);
        assert_true(again > 100 + BROADCAST_TURN_TIMEOUT);
        assert_int_equal(answer(t, again), 2);
        broadcast_turns_free(t);
}

static void removal_answers_all(void **state)
{
        struct broadcast_turns *t = broadcast_turns_new();
        assert_int_equal(ask(t, 100, 0), 100 - BROADCAST_TURNS);
        broadcast_turns_remove(t, 7);
        assert_int_equal(answer(t, 0), 0);
        broadcast_turns_remove(t, piece.id);
        assert_int_equal(answer(t, 0), 100 - BROADCAST_TURNS);
        broadcast_turns_held(t, piece); /* a late one */
        assert_int_equal(answer(t, 0), 0);
        assert_int_equal(ask(t, 1, 0), 0);
        broadcast_turns_free(t);
}

static void end_drops_askers(void **state)
{
        struct broadcast_turns *t = broadcast_turns_new();
        assert_int_equal(ask(t, BROADCAST_TURNS + 2, 0), 2);
        assert_non_null(broadcast_turns_drop(t));
        assert_non_null(broadcast_turns_drop(t));
        assert_null(broadcast_turns_drop(t));
        broadcast_turns_free(t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_holder_serves_four),
                cmocka_unit_test(dead_fetchers_delay_others_briefly),
                cmocka_unit_test(removal_answers_all),
                cmocka_unit_test(end_drops_askers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
