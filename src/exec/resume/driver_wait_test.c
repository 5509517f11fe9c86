/* An executor without its driver: what it does when, whom it obeys, and random worlds of drivers that die and wake up. */
#include "exec/resume/driver_wait.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define TIMEOUT 1000
#define INTERVAL 10
#define CALL 8 /* becomes 6 to 10 */
#define MAX_CALL 64

static const struct driver_wait_times times = {.timeout = TIMEOUT, .look = INTERVAL, .call = CALL, .max_call = MAX_CALL};

static void ends_at_once_without_timeout(void **state)
{
        struct driver_wait w;
        driver_wait_init(&w, &(struct driver_wait_times){.look = INTERVAL}, 1, 1);
        assert_false(driver_wait_lost(&w, 5));
        assert_int_equal(driver_wait_next(&w, 5), DRIVER_WAIT_NOTHING);
        driver_wait_init(&w, &times, 0, 1); /* a driver without a journal has no next one */
        assert_false(driver_wait_lost(&w, 5));
        driver_wait_silent(&w, true, 6);
        assert_int_equal(driver_wait_deadline(&w), INT64_MAX);
}

static void looks_and_calls_until_the_timeout(void **state)
{
        struct driver_wait w;
        int looks = 0, calls = 0;
        driver_wait_init(&w, &times, 1, 1);
        assert_int_equal(driver_wait_deadline(&w), INT64_MAX);
        assert_true(driver_wait_lost(&w, 100));
        assert_true(driver_wait_lost(&w, 101)); /* a second report changes nothing */
        for (int64_t now = 100;; now = driver_wait_deadline(&w)) {
                enum driver_wait_action action;
                while ((action = driver_wait_next(&w, now)) == DRIVER_WAIT_LOOK || action == DRIVER_WAIT_CALL_SAME) {
                        if (action == DRIVER_WAIT_LOOK) {
                                looks++;
                                driver_wait_looked(&w, 1, now); /* the lost one is still the latest */
                        } else {
                                calls++;
                                driver_wait_failed(&w, w.called, now);
                        }
                }
                if (action == DRIVER_WAIT_END) {
                        assert_int_equal(now, 100 + TIMEOUT);
                        break;
                }
                assert_int_equal(action, DRIVER_WAIT_NOTHING);
                assert_true(driver_wait_deadline(&w) > now);
        }
        assert_int_equal(looks, TIMEOUT / INTERVAL);
        assert_in_range(calls, 3 + TIMEOUT / (MAX_CALL * 5 / 4), 5 + TIMEOUT / (MAX_CALL * 3 / 4));
        assert_int_equal(driver_wait_next(&w, 5000), DRIVER_WAIT_NOTHING);
        assert_int_equal(driver_wait_deadline(&w), INT64_MAX);
}

/* The times between calls grow, differ between executors, and begin anew with the next driver that is lost. */
static void calls_the_same_address_less_and_less_often(void **state)
{
        uint64_t sums[2] = {0};
        for (uint32_t seed = 1; seed <= ARRAY_SIZE(sums); seed++) {
                struct driver_wait w;
                int64_t now = 0, pause = CALL;
                driver_wait_init(&w, &times, 1, seed * 7919);
                assert_true(driver_wait_lost(&w, now));
                assert_int_equal(driver_wait_next(&w, now), DRIVER_WAIT_LOOK); /* which takes long */
                for (int i = 0; i < 12; i++) {
                        assert_int_equal(driver_wait_next(&w, now), DRIVER_WAIT_CALL_SAME);
                        driver_wait_failed(&w, w.called, now);
                        const int64_t next = driver_wait_deadline(&w);
                        assert_in_range(next - now, pause * 3 / 4, pause * 5 / 4);
                        assert_int_equal(driver_wait_next(&w, next - 1), DRIVER_WAIT_NOTHING);
                        sums[seed - 1] = sums[seed - 1] * 31 + (uint64_t)(next - now);
                        now = next;
                        pause = MIN(2 * pause, MAX_CALL);
                }
                assert_int_equal(driver_wait_next(&w, now), DRIVER_WAIT_CALL_SAME);
                assert_true(driver_wait_registered(&w, w.called, 2));
                assert_true(driver_wait_lost(&w, now));
                assert_int_equal(driver_wait_next(&w, now), DRIVER_WAIT_CALL_SAME);
                driver_wait_failed(&w, w.called, now);
                assert_in_range(driver_wait_deadline(&w) - now, CALL * 3 / 4, CALL * 5 / 4);
        }
        assert_true(sums[0] != sums[1]);
}

static void registers_with_a_later_driver_only(void **state)
{
        struct driver_wait w;
        driver_wait_init(&w, &times, 3, 1);
        assert_true(driver_wait_lost(&w, 0));
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_LOOK);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_CALL_SAME);
        uint32_t first = w.called;
        driver_wait_looked(&w, 4, 1);
        assert_int_equal(driver_wait_next(&w, 1), DRIVER_WAIT_CALL_FOUND); /* although a call is under way */
        assert_false(driver_wait_registered(&w, first, 5));                /* its late answer */
        driver_wait_failed(&w, first, 2);
        assert_int_equal(driver_wait_next(&w, 1 + INTERVAL), DRIVER_WAIT_LOOK);
        driver_wait_looked(&w, 4, 1 + INTERVAL); /* that driver is being called */
        assert_int_equal(driver_wait_next(&w, 1 + INTERVAL), DRIVER_WAIT_NOTHING);
        assert_false(driver_wait_registered(&w, w.called, 2));
        assert_true(driver_wait_registered(&w, w.called, 4));
        assert_int_equal(w.state, DRIVER_CONNECTED);
        assert_false(driver_wait_obeys(&w, 3));
        assert_false(driver_wait_obeys(&w, 0));
        assert_true(driver_wait_obeys(&w, 4));
        driver_wait_refused(&w, w.called);
        assert_int_equal(w.state, DRIVER_CONNECTED);
}

/* The next driver has the address of the lost one, and the place names it while it is called. */
static void calls_the_driver_at_the_same_address_once(void **state)
{
        struct driver_wait w;
        driver_wait_init(&w, &times, 1, 1);
        driver_wait_lost(&w, 0);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_LOOK);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_CALL_SAME);
        assert_true(driver_wait_reached(&w, w.called, 2, 1));
        driver_wait_looked(&w, 2, 2);
        assert_int_equal(driver_wait_next(&w, 2), DRIVER_WAIT_NOTHING);
        driver_wait_looked(&w, 3, 3);
        assert_int_equal(driver_wait_next(&w, 3), DRIVER_WAIT_CALL_FOUND);
        assert_false(driver_wait_reached(&w, w.called - 1, 2, 4));
        assert_false(driver_wait_reached(&w, w.called, 1, 4)); /* the lost one: its connection was cut */
        assert_int_equal(driver_wait_next(&w, 4), DRIVER_WAIT_NOTHING);
        assert_in_range(driver_wait_deadline(&w), 4 + CALL * 3 / 4, 3 + INTERVAL);
}

static void ends_when_a_driver_refuses_it(void **state)
{
        struct driver_wait w;
        driver_wait_init(&w, &times, 1, 1);
        driver_wait_lost(&w, 0);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_LOOK);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_CALL_SAME);
        driver_wait_refused(&w, w.called);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_END);
        assert_int_equal(driver_wait_next(&w, 0), DRIVER_WAIT_NOTHING);
}

static void leaves_a_stuck_driver_for_a_later_one(void **state)
{
        struct driver_wait w;
        driver_wait_init(&w, &times, 1, 1);
        driver_wait_silent(&w, true, 50);
        assert_int_equal(driver_wait_next(&w, 50), DRIVER_WAIT_LOOK);
        driver_wait_looked(&w, 0, 51);
        assert_int_equal(driver_wait_next(&w, 55), DRIVER_WAIT_NOTHING); /* it stays */
        assert_int_equal(driver_wait_next(&w, 51 + INTERVAL), DRIVER_WAIT_LOOK);
        driver_wait_silent(&w, false, 62); /* it was slow only */
        driver_wait_looked(&w, 2, 63);
        assert_int_equal(driver_wait_next(&w, 63), DRIVER_WAIT_NOTHING);
        driver_wait_silent(&w, true, 70);
        assert_int_equal(driver_wait_next(&w, 70), DRIVER_WAIT_LOOK);
        driver_wait_looked(&w, 2, 71);
        assert_int_equal(driver_wait_next(&w, 71), DRIVER_WAIT_CALL_FOUND);
        assert_int_equal(w.state, DRIVER_SEARCHED);
        assert_true(driver_wait_registered(&w, w.called, 2));
}

/* A world: drivers with rising epochs die, freeze and start at random times, and answers come late. */
struct driver_world {
        unsigned seed;
        int newest;   /* epoch that the place names; its driver answers unless it is dead */
        bool dead;    /* the newest driver */
        int obeyed;   /* the largest epoch with which the executor registered */
        int64_t now, lost;
};

static int world_draw(struct driver_world *world, int n)
{
        return rand_r(&world->seed) % n;
}

static void world_do(struct driver_world *world, struct driver_wait *w, enum driver_wait_action action)
{
        const uint32_t call = w->called;
        switch (action) {
        case DRIVER_WAIT_LOOK:
                world->now += world_draw(world, 3);
                driver_wait_looked(w, world_draw(world, 4) ? world->newest : 0, world->now);
                break;
        case DRIVER_WAIT_CALL_FOUND:
        case DRIVER_WAIT_CALL_SAME:
                world->now += world_draw(world, 20);
                if (world->dead || world_draw(world, 5) == 0) {
                        driver_wait_failed(w, call, world->now);
                } else if (driver_wait_registered(w, call, world_draw(world, 3) ? world->newest : world->newest - 1)) {
                        assert_true(w->epoch >= world->obeyed);
                        world->obeyed = w->epoch;
                } else {
                        driver_wait_failed(w, call, world->now);
                }
                break;
        default:
                break;
        }
}

static void run_world(unsigned seed)
{
        struct driver_world world = {.seed = seed, .newest = 1, .obeyed = 1};
        struct driver_wait w;
        driver_wait_init(&w, &times, 1, 1);
        for (int step = 0; step < 500; step++) {
                enum driver_wait_action action;
                switch (world_draw(&world, 6)) {
                case 0:
                        world.newest++;
                        world.dead = false;
                        break;
                case 1:
                        world.dead = true;
                        if (w.state == DRIVER_CONNECTED)
                                world.lost = world.now;
                        driver_wait_lost(&w, world.now);
                        break;
                case 2:
                        driver_wait_silent(&w, world_draw(&world, 2), world.now);
                        break;
                default:
                        world.now += world_draw(&world, 40);
                }
                while ((action = driver_wait_next(&w, world.now)) != DRIVER_WAIT_NOTHING) {
                        if (action == DRIVER_WAIT_END) {
                                assert_true(world.now - w.lost >= TIMEOUT);
                                return;
                        }
                        world_do(&world, &w, action);
                }
                assert_true(w.epoch >= world.obeyed && w.epoch <= world.newest);
                assert_true(w.state != DRIVER_SEARCHED || world.now - w.lost < TIMEOUT);
                assert_false(driver_wait_obeys(&w, world.obeyed - 1) && world.obeyed > 1);
        }
}

static void random_worlds_keep_the_invariants(void **state)
{
        for (unsigned seed = 1; seed <= 2000; seed++)
                run_world(seed);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ends_at_once_without_timeout),
                cmocka_unit_test(looks_and_calls_until_the_timeout),
                cmocka_unit_test(calls_the_same_address_less_and_less_often),
                cmocka_unit_test(registers_with_a_later_driver_only),
                cmocka_unit_test(calls_the_driver_at_the_same_address_once),
                cmocka_unit_test(ends_when_a_driver_refuses_it),
                cmocka_unit_test(leaves_a_stuck_driver_for_a_later_one),
                cmocka_unit_test(random_worlds_keep_the_invariants),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
