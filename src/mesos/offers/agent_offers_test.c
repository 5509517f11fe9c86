/* The text of what the offers of agents lack: each kind of lack, their order, old offers, several offers of an agent.
 */
#include "mesos/offers/agent_offers.h"

#include "base/error.h"
#include "mesos/offers/offers_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct mesos_range ports[] = {{31000, 31009}};
static const struct mesos_range ids[] = {{1, 4}, {7, 8}};
static const char *const zones[] = {"a", "b"};
static const struct mesos_attribute rack_7[] = {
        {.name = "os", .type = MESOS_VALUE_TEXT, .text = "debian"},
        {.name = "rack", .type = MESOS_VALUE_SCALAR, .scalar = 7},
        {.name = "ids", .type = MESOS_VALUE_RANGES, .ranges = ids, .n_ranges = 2},
        {.name = "zone", .type = MESOS_VALUE_SET, .items = zones, .n_items = 2},
};
static const struct mesos_attribute rack_12[] = {{.name = "rack", .type = MESOS_VALUE_SCALAR, .scalar = 12}};

struct shortage_case {
        struct arena arena;
        struct agent_offers agents;
        struct mesos_constraints constraints;
        struct offer_needs needs;
        struct buf text;
};

static int shortage_begin(void **state)
{
        struct shortage_case *t = new0(struct shortage_case);
        t->arena = ARENA_INIT;
        t->text = BUF_INIT;
        t->needs = (struct offer_needs){.cpus_milli = 2000,
                                        .memory = 1408,
                                        .constraints = &t->constraints,
                                        .cpus_key = "CPUS",
                                        .memory_key = "MEMORY",
                                        .port_key = "PORT",
                                        .constraints_key = "CONSTRAINTS"};
        *state = t;
        return 0;
}

static int shortage_end(void **state)
{
        struct shortage_case *t = *state;
        agent_offers_deinit(&t->agents);
        mesos_constraints_deinit(&t->constraints);
        arena_deinit(&t->arena);
        buf_deinit(&t->text);
        free(t);
        return 0;
}

static void shortage_add(struct shortage_case *t, const char *agent, int64_t cpus, int64_t memory,
                         const struct mesos_attribute *attributes, size_t n, int64_t now)
{
        struct mesos_offer offer = fixture_offer(&t->arena, "o", agent, cpus, memory, 0);
        offer.attributes = attributes;
        offer.n_attributes = n;
        agent_offers_add(&t->agents, &offer, 1, t->needs.port, now);
}

static const char *shortage_text(struct shortage_case *t, int64_t since, size_t n_fit)
{
        buf_truncate(&t->text, 0);
        assert_int_equal(agent_offers_put_shortage(&t->agents, &t->needs, since, &t->text), n_fit);
        return buf_text(&t->text);
}

static void no_offer_has_no_text(void **state)
{
        struct shortage_case *t = *state;
        assert_string_equal(shortage_text(t, 0, 0), "");
        shortage_add(t, "a", 1000, 100, NULL, 0, 5);
        assert_string_equal(shortage_text(t, 6, 0), "");
        assert_null(agent_offers_host(&t->agents, "b"));
        assert_string_equal(agent_offers_host(&t->agents, "a"), "a");
}

static void each_lack_is_counted_with_the_best_agent(void **state)
{
        struct shortage_case *t = *state;
        assert_int_equal(mesos_constraints_parse(&t->constraints, "rack:12", NULL), 0);
        shortage_add(t, "a", 8000, 8000, rack_7, ARRAY_SIZE(rack_7), 5);
        assert_string_equal(shortage_text(t, 0, 0),
                            "1 agent offers resources: 1 does not meet CONSTRAINTS=rack:12 (a has "
                            "os:debian;rack:7;ids:[1-4,7-8];zone:{a,b})");
        shortage_add(t, "b", 8000, 8000, NULL, 0, 5);
        shortage_add(t, "c", 500, 8000, rack_12, 1, 5);
        shortage_add(t, "d", 1000, 8000, rack_12, 1, 5);
        shortage_add(t, "e", 8000, 1000, rack_12, 1, 5);
        shortage_add(t, "f", 8000, 900, rack_12, 1, 5);
        shortage_add(t, "g", 2000, 1408, rack_12, 1, 5);
        assert_string_equal(shortage_text(t, 5, 1),
                            "7 agents offer resources: 2 do not meet CONSTRAINTS=rack:12 (a has "
                            "os:debian;rack:7;ids:[1-4,7-8];zone:{a,b}), 2 have less than the 2 cpus of CPUS (the most "
                            "is 1, of d), 2 have less than the 1408 MiB of MEMORY (the most is 1000 MiB, of e), 1 has "
                            "enough");
}

static void missing_port_is_named(void **state)
{
        struct shortage_case *t = *state;
        const struct mesos_resource r[] = {
                {.name = "cpus", .role = "*", .milli = 8000},
                {.name = "mem", .role = "*", .milli = 8000000},
                {.name = "ports", .role = "*", .type = MESOS_VALUE_RANGES, .ranges = ports, .n_ranges = 1}};
        const struct mesos_offer offer = {
                .id = "o", .agent = "p", .hostname = "host-p", .resources = r, .n_resources = ARRAY_SIZE(r)};
        t->needs.port = 31005;
        shortage_add(t, "a", 8000, 8000, NULL, 0, 5);
        agent_offers_add(&t->agents, &offer, 1, t->needs.port, 5);
        assert_string_equal(shortage_text(t, 0, 1),
                            "2 agents offer resources: 1 does not offer the port 31005 of PORT, 1 has enough");
}

static void last_offers_of_an_agent_count(void **state)
{
        struct shortage_case *t = *state;
        shortage_add(t, "a", 8000, 8000, NULL, 0, 5);
        assert_string_equal(shortage_text(t, 0, 1), "1 agent offers resources: 1 has enough");
        shortage_add(t, "a", 500, 8000, NULL, 0, 6);
        shortage_add(t, "a", 1500, 100, NULL, 0, 6);
        assert_string_equal(shortage_text(t, 0, 0),
                            "1 agent offers resources: 1 has less than the 2 cpus of CPUS (the most is 1.5, of a)");
}

static void long_attributes_are_cut(void **state)
{
        struct shortage_case *t = *state;
        char text[400];
        const struct mesos_attribute attribute = {.name = "x", .type = MESOS_VALUE_TEXT, .text = text};
        memset(text, 'y', sizeof(text) - 1);
        text[sizeof(text) - 1] = 0;
        assert_int_equal(mesos_constraints_parse(&t->constraints, "rack:;os:a,b", NULL), 0);
        shortage_add(t, "a", 8000, 8000, &attribute, 1, 5);
        assert_non_null(strstr(shortage_text(t, 0, 0), "CONSTRAINTS=rack:;os:a,b (a has x:yyy"));
        assert_true(t->text.len < 320);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(no_offer_has_no_text, shortage_begin, shortage_end),
                cmocka_unit_test_setup_teardown(each_lack_is_counted_with_the_best_agent, shortage_begin, shortage_end),
                cmocka_unit_test_setup_teardown(missing_port_is_named, shortage_begin, shortage_end),
                cmocka_unit_test_setup_teardown(last_offers_of_an_agent_count, shortage_begin, shortage_end),
                cmocka_unit_test_setup_teardown(long_attributes_are_cut, shortage_begin, shortage_end),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
