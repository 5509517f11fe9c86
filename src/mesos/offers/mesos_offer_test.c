/* Resources of offers: sums over roles, what is taken, ports; the states of tasks. */
#include "mesos/offers/mesos_offer.h"

#include "base/arena.h"
#include "base/mem.h"
#include "mesos/offers/task_outcome.h"
#include "unit/cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct mesos_reservation reservation = {.principal = "p"};
static const struct mesos_range high[] = {{31000, 31099}}, low[] = {{1000, 1001}, {2000, 2009}};
static const struct mesos_resource offered[] = {
        {.name = "cpus", .role = "dev", .milli = 2000, .reservation = &reservation},
        {.name = "mem", .role = "*", .milli = 1024000},
        {.name = "ports", .role = "dev", .type = MESOS_VALUE_RANGES, .ranges = low, .n_ranges = 2},
        {.name = "ports", .role = "*", .type = MESOS_VALUE_RANGES, .ranges = high, .n_ranges = 1},
        {.name = "cpus", .role = "*", .milli = 1500},
};

struct pools {
        struct arena arena;
        struct mesos_resources rest, used;
};

static int pools_open(void **state)
{
        struct pools *p = new0(struct pools);
        mesos_resources_init(&p->rest, &p->arena, offered, ARRAY_SIZE(offered));
        mesos_resources_init(&p->used, &p->arena, NULL, 0);
        *state = p;
        return 0;
}

static int pools_close(void **state)
{
        struct pools *p = *state;
        arena_deinit(&p->arena);
        free(p);
        return 0;
}

static void amounts_are_rounded_to_thousandths(void **state)
{
        assert_int_equal(mesos_milli(1.0005), 1001);
        assert_int_equal(mesos_milli(0.1) * 3, mesos_milli(0.3));
        assert_int_equal(mesos_milli(-4), 0);
        assert_int_equal(mesos_milli(NAN), 0);
        assert_int_equal(mesos_milli(1e300), mesos_milli(INFINITY));
        assert_true(mesos_amount(1500) == 1.5);
}

static void sum_adds_all_roles(void **state)
{
        assert_int_equal(mesos_resources_sum(offered, ARRAY_SIZE(offered), "cpus"), 3500);
        assert_int_equal(mesos_resources_sum(offered, ARRAY_SIZE(offered), "ports"), 0);
        assert_int_equal(mesos_resources_sum(offered, ARRAY_SIZE(offered), "gpus"), 0);
        assert_int_equal(mesos_resources_sum(NULL, 0, "cpus"), 0);
}

static void take_splits_over_roles_in_order(void **state)
{
        struct pools *p = *state;
        assert_int_equal(mesos_resources_take(&p->rest, "cpus", 3000, &p->used), 3000);
        assert_int_equal(p->used.len, 2);
        assert_string_equal(p->used.data[0].role, "dev");
        assert_int_equal(p->used.data[0].milli, 2000);
        assert_ptr_equal(p->used.data[0].reservation, &reservation);
        assert_string_equal(p->used.data[1].role, "*");
        assert_int_equal(p->used.data[1].milli, 1000);
        assert_null(p->used.data[1].reservation);
        assert_int_equal(p->rest.len, 4); /* dev's cpus are gone */
        assert_int_equal(mesos_resources_sum(p->rest.data, p->rest.len, "cpus"), 500);
        assert_int_equal(offered[0].milli, 2000); /* the offer itself stays */
}

static void take_of_too_much_takes_all(void **state)
{
        struct pools *p = *state;
        assert_int_equal(mesos_resources_take(&p->rest, "cpus", 9000, &p->used), 3500);
        assert_int_equal(mesos_resources_take(&p->rest, "cpus", 1000, &p->used), 0);
        assert_int_equal(mesos_resources_take(&p->rest, "gpus", 1000, &p->used), 0);
        assert_int_equal(mesos_resources_take(&p->rest, "mem", 0, &p->used), 0);
        assert_int_equal(p->used.len, 2);
        assert_int_equal(p->rest.len, 3);
}

static void port_keeps_its_role_and_takes_all_ports(void **state)
{
        struct pools *p = *state;
        assert_true(mesos_resources_have_port(p->rest.data, p->rest.len, 31099));
        assert_false(mesos_resources_have_port(p->rest.data, p->rest.len, 31100));
        assert_true(mesos_resources_take_port(&p->rest, 2009, &p->used));
        assert_string_equal(p->used.data[0].role, "dev");
        assert_int_equal(p->used.data[0].n_ranges, 1);
        assert_int_equal(p->used.data[0].ranges[0].begin, 2009);
        assert_int_equal(p->used.data[0].ranges[0].end, 2009);
        assert_int_equal(p->rest.len, 3);
        assert_false(mesos_resources_take_port(&p->rest, 31000, &p->used));
        assert_int_equal(p->used.len, 1);
        assert_int_equal(p->rest.len, 3);
}

static void port_that_is_not_offered_changes_nothing(void **state)
{
        struct pools *p = *state;
        assert_false(mesos_resources_take_port(&p->rest, 1002, &p->used));
        assert_int_equal(p->used.len, 0);
        assert_int_equal(p->rest.len, ARRAY_SIZE(offered));
}

static void states_become_those_of_spark(void **state)
{
        static const struct {
                mesos_task_state state;
                const char *name, *outcome;
                bool final, failure;
        } cases[] = {
                {MESOS_TASK_STAGING, "TASK_STAGING", "LAUNCHING", false, false},
                {MESOS_TASK_STARTING, "TASK_STARTING", "LAUNCHING", false, false},
                {MESOS_TASK_RUNNING, "TASK_RUNNING", "RUNNING", false, false},
                {MESOS_TASK_KILLING, "TASK_KILLING", "RUNNING", false, false},
                {MESOS_TASK_FINISHED, "TASK_FINISHED", "FINISHED", true, false},
                {MESOS_TASK_FAILED, "TASK_FAILED", "FAILED", true, true},
                {MESOS_TASK_GONE, "TASK_GONE", "FAILED", true, true},
                {MESOS_TASK_GONE_BY_OPERATOR, "TASK_GONE_BY_OPERATOR", "FAILED", true, true},
                {MESOS_TASK_KILLED, "TASK_KILLED", "KILLED", true, false},
                {MESOS_TASK_LOST, "TASK_LOST", "LOST", true, true},
                {MESOS_TASK_ERROR, "TASK_ERROR", "LOST", true, true},
                {MESOS_TASK_DROPPED, "TASK_DROPPED", "LOST", true, true},
                {MESOS_TASK_UNKNOWN, "TASK_UNKNOWN", "LOST", true, true},
                {MESOS_TASK_UNREACHABLE, "TASK_UNREACHABLE", "LOST", true, true},
                {(mesos_task_state)77, "TASK_UNKNOWN", "LOST", true, true},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].name);
                const enum task_outcome outcome = task_outcome_of(cases[i].state);
                assert_string_equal(mesos_state_name(cases[i].state), cases[i].name);
                assert_string_equal(task_outcome_name(outcome), cases[i].outcome);
                assert_int_equal(task_outcome_is_final(outcome), cases[i].final);
                assert_int_equal(task_outcome_is_failure(outcome), cases[i].failure);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(amounts_are_rounded_to_thousandths),
                cmocka_unit_test(sum_adds_all_roles),
                cmocka_unit_test_setup_teardown(take_splits_over_roles_in_order, pools_open, pools_close),
                cmocka_unit_test_setup_teardown(take_of_too_much_takes_all, pools_open, pools_close),
                cmocka_unit_test_setup_teardown(port_keeps_its_role_and_takes_all_ports, pools_open, pools_close),
                cmocka_unit_test_setup_teardown(port_that_is_not_offered_changes_nothing, pools_open, pools_close),
                cmocka_unit_test(states_become_those_of_spark),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
