/* Registration with masters on a simulated clock: connection attempts, leaders, giving up. */
#include "standalone/wire/master_registration.h"

#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS(n) ((n)*NS_PER_MS)

/* Actions since the last check: "reach 0 introduce 1 ". */
static struct buf said;

static void run(struct registration *r)
{
        static const char *const names[] = {[REGISTRATION_REACH] = "reach",
                                            [REGISTRATION_INTRODUCE] = "introduce",
                                            [REGISTRATION_RETRYING] = "attempt"};

        for (const struct registration_action *action; (action = registration_next_action(r));)
                if (action->kind == REGISTRATION_GIVE_UP)
                        buf_puts(&said, "give up ");
                else
                        buf_printf(&said, "%s %d ", names[action->kind], action->number);
}

static void expect(struct registration *r, const char *what)
{
        run(r);
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
        return registration_new(&config);
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
        expect(r, "reach 0 ");
        registration_reached(r, 0, 5);
        expect(r, "introduce 0 ");
        assert_int_equal(registration_leader(r), -1);
        registration_taken(r, 0);
        assert_int_equal(registration_leader(r), 0);
        assert_int_equal(registration_deadline(r), INT64_MAX);
        /* After its death it is tried at once, then repeatedly. */
        registration_unreachable(r, 0, MS(1000));
        assert_int_equal(registration_leader(r), -1);
        assert_int_equal(registration_deadline(r), MS(1100));
        registration_tick(r, MS(1100));
        expect(r, "reach 0 ");
        registration_reached(r, 0, MS(1101));
        expect(r, "introduce 0 ");
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
        expect(r, "reach 0 reach 0 reach 0 reach 0 reach 0 reach 0 reach 0 ");
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
                run(r);
                if (strstr(buf_text(&said), "reach")) {
                        reached++;
                        registration_unreachable(r, 0, now);
                }
                buf_reset(&said);
                now = registration_deadline(r);
                registration_tick(r, now);
                gave_up = now;
        }
        expect(r, "give up ");
        /* Two short pauses, then long ones: attempts at 10, 20, 80 and 140 s, and the end one pause later. */
        assert_int_equal(gave_up, MS(200000));
        assert_true(reached > 8);
        registration_reached(r, 0, now);
        registration_again(r, now);
        expect(r, "");
        registration_free(r);
}

/* The client registers again with a silent master, until registration gives up. */
static void test_silent_master(void **state)
{
        (void)state;
        struct registration *r = make(1);
        registration_start(r, 0);
        registration_reached(r, 0, 1);
        expect(r, "reach 0 introduce 0 ");
        registration_tick(r, MS(10000));
        expect(r, "attempt 1 introduce 0 ");
        registration_tick(r, MS(20000));
        registration_tick(r, MS(80000));
        registration_tick(r, MS(140000));
        expect(r, "attempt 2 introduce 0 attempt 3 introduce 0 attempt 4 introduce 0 ");
        registration_tick(r, MS(200000));
        expect(r, "give up ");
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
        expect(r, "reach 0 reach 1 introduce 0 introduce 1 ");
        /* The leader dies: the client registers again with the other master, which may lead by now, or announce itself.
         */
        registration_unreachable(r, 1, 50);
        expect(r, "introduce 0 ");
        registration_taken(r, 0);
        assert_int_equal(registration_leader(r), 0);
        /* A dead master is tried forever, in the end once a minute. */
        int64_t now = MS(50);
        for (int i = 0; i < 100; i++) {
                now = registration_deadline(r);
                registration_tick(r, now);
                expect(r, "reach 1 ");
                registration_unreachable(r, 1, now);
        }
        assert_int_equal(registration_deadline(r), now + MS(60000));
        /* It comes back as a standby. */
        registration_tick(r, now + MS(60000));
        registration_reached(r, 1, now + MS(60001));
        expect(r, "reach 1 introduce 1 ");
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
        expect(r, "reach 0 introduce 0 ");
        registration_again(r, MS(100));
        expect(r, "introduce 0 ");
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
