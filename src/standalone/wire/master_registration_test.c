/* Registration with masters on a simulated clock: connection attempts, leaders, giving up. */
#include "standalone/wire/master_registration.h"

#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS(n) ((n)*NS_PER_MS)

/* Operations since the last check: "reach 0 introduce 1 ". */
static struct buf said;

static void on_reach(void *owner, int master)
{
        buf_printf(owner, "reach %d ", master);
}

static void on_introduce(void *owner, int master)
{
        buf_printf(owner, "introduce %d ", master);
}

static void on_retrying(void *owner, int attempt)
{
        buf_printf(owner, "attempt %d ", attempt);
}

static void on_give_up(void *owner)
{
        buf_puts(owner, "give up ");
}

static const struct registration_ops ops = {on_reach, on_introduce, on_retrying, on_give_up};

static void expect(const char *what)
{
        assert_string_equal(buf_text(&said), what);
        buf_reset(&said);
}

static struct registration *make(int masters)
{
        struct registration_config config = {.masters = masters,
                                             .quick = 2,
                                             .most = 4,
                                             .short_pause = MS(10000),
                                             .long_pause = MS(60000),
                                             .stretch = 1};
        buf_reset(&said);
        return registration_new(&config, &ops, &said);
}

static int tear_down(void **state)
{
        (void)state;
        buf_deinit(&said);
        return 0;
}

static void test_one_master(void **state)
{
        (void)state;
        struct registration *r = make(1);
        registration_start(r, 0);
        expect("reach 0 ");
        registration_reached(r, 0, 5);
        expect("introduce 0 ");
        assert_int_equal(registration_leader(r), -1);
        registration_taken(r, 0);
        assert_int_equal(registration_leader(r), 0);
        assert_int_equal(registration_deadline(r), INT64_MAX);
        /* After its death it is tried at once, then repeatedly. */
        registration_unreachable(r, 0, MS(1000));
        assert_int_equal(registration_leader(r), -1);
        assert_int_equal(registration_deadline(r), MS(1100));
        registration_tick(r, MS(1100));
        expect("reach 0 ");
        registration_reached(r, 0, MS(1101));
        expect("introduce 0 ");
        registration_free(r);
}

/* Pauses are short at first, double each time, and are limited by Spark's schedule. */
static void test_pauses_grow(void **state)
{
        (void)state;
        struct registration *r = make(1);
        int64_t now = 0;
        registration_start(r, now);
        for (int64_t pause = MS(100); pause < MS(6400); pause *= 2) {
                registration_unreachable(r, 0, now);
                assert_int_equal(registration_deadline(r), now + pause);
                now += pause;
                registration_tick(r, now);
        }
        expect("reach 0 reach 0 reach 0 reach 0 reach 0 reach 0 reach 0 ");
        registration_free(r);
}

static void test_gives_up(void **state)
{
        (void)state;
        struct registration *r = make(1);
        int64_t now = 0, gave_up = -1;
        int reached = 0;
        registration_start(r, now);
        while (registration_deadline(r) < INT64_MAX) {
                if (strstr(buf_text(&said), "reach")) {
                        reached++;
                        registration_unreachable(r, 0, now);
                }
                buf_reset(&said);
                now = registration_deadline(r);
                registration_tick(r, now);
                gave_up = now;
        }
        expect("give up ");
        /* Two short pauses, then long ones: attempts at 10, 20, 80 and 140 s, and the end one pause later. */
        assert_int_equal(gave_up, MS(200000));
        assert_true(reached > 8);
        registration_reached(r, 0, now);
        registration_again(r, now);
        expect("");
        registration_free(r);
}

/* The client registers again with a silent master, until registration gives up. */
static void test_silent_master(void **state)
{
        (void)state;
        struct registration *r = make(1);
        registration_start(r, 0);
        registration_reached(r, 0, 1);
        expect("reach 0 introduce 0 ");
        registration_tick(r, MS(10000));
        expect("attempt 1 introduce 0 ");
        registration_tick(r, MS(20000));
        registration_tick(r, MS(80000));
        registration_tick(r, MS(140000));
        expect("attempt 2 introduce 0 attempt 3 introduce 0 attempt 4 introduce 0 ");
        registration_tick(r, MS(200000));
        expect("give up ");
        registration_free(r);
}

static void test_standby_takes_over(void **state)
{
        (void)state;
        struct registration *r = make(2);
        registration_start(r, 0);
        registration_reached(r, 0, 1);
        registration_reached(r, 1, 1);
        registration_taken(r, 1);
        expect("reach 0 reach 1 introduce 0 introduce 1 ");
        /* The leader dies: the client registers again with the other master, which may lead by now, or announce itself.
         */
        registration_unreachable(r, 1, 50);
        expect("introduce 0 ");
        registration_taken(r, 0);
        assert_int_equal(registration_leader(r), 0);
        /* A dead master is tried for ever, in the end once a minute. */
        int64_t now = MS(50);
        for (int i = 0; i < 100; i++) {
                now = registration_deadline(r);
                registration_tick(r, now);
                expect("reach 1 ");
                registration_unreachable(r, 1, now);
        }
        assert_int_equal(registration_deadline(r), now + MS(60000));
        /* It comes back as a standby. */
        registration_tick(r, now + MS(60000));
        registration_reached(r, 1, now + MS(60001));
        expect("reach 1 introduce 1 ");
        assert_int_equal(registration_leader(r), 0);
        assert_int_equal(registration_deadline(r), INT64_MAX);
        registration_free(r);
}

static void test_asked_to_come_again(void **state)
{
        (void)state;
        struct registration *r = make(1);
        registration_start(r, 0);
        registration_reached(r, 0, 1);
        registration_taken(r, 0);
        expect("reach 0 introduce 0 ");
        registration_again(r, MS(100));
        expect("introduce 0 ");
        assert_int_equal(registration_leader(r), -1);
        assert_int_equal(registration_deadline(r), MS(10100));
        registration_free(r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_master),         cmocka_unit_test(test_pauses_grow),
                cmocka_unit_test(test_gives_up),           cmocka_unit_test(test_silent_master),
                cmocka_unit_test(test_standby_takes_over), cmocka_unit_test(test_asked_to_come_again),
        };
        return cmocka_run_group_tests(tests, NULL, tear_down);
}
