/* Offers of a message: resources, attributes, executors, and those that lack what their type promises. */
#include "mesos/offers/offer_message.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "mesos/protocol/mesos_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void offer_becomes_resources_and_attributes(void **state)
{
        struct arena arena = ARENA_INIT;
        const char *const item = "x";
        const struct mesos_range ranges[] = {{31000, 31005}, {32000, 32000}};
        const struct mesos_reservation reservation = {.principal = "p"};
        const struct mesos_resource resources[] = {
                {.name = "cpus", .role = "dev", .milli = 1500, .reservation = &reservation},
                {.name = "ports", .role = "*", .type = MESOS_VALUE_RANGES, .ranges = ranges, .n_ranges = 2},
                {.name = "set", .role = "*", .type = MESOS_VALUE_SET, .items = &item, .n_items = 1}};
        Firesteel__Mesos__Resource **messages = mesos_resources_message(&arena, resources, 3);
        messages[2]->role = NULL;
        Firesteel__Mesos__Resource broken = FIRESTEEL__MESOS__RESOURCE__INIT;
        broken.name = (char *)"mem";
        Firesteel__Mesos__Resource *all[] = {messages[0], &broken, messages[1], messages[2]};
        Firesteel__Mesos__Value__Text text = FIRESTEEL__MESOS__VALUE__TEXT__INIT;
        text.value = (char *)"debian";
        Firesteel__Mesos__Attribute os = FIRESTEEL__MESOS__ATTRIBUTE__INIT, odd = FIRESTEEL__MESOS__ATTRIBUTE__INIT;
        os.name = (char *)"os";
        os.type = FIRESTEEL__MESOS__VALUE__TYPE__TEXT;
        os.text = &text;
        odd.name = (char *)"odd";
        odd.type = FIRESTEEL__MESOS__VALUE__TYPE__RANGES;
        Firesteel__Mesos__Attribute *attributes[] = {&odd, &os};
        Firesteel__Mesos__OfferID id = FIRESTEEL__MESOS__OFFER_ID__INIT;
        Firesteel__Mesos__AgentID agent = FIRESTEEL__MESOS__AGENT_ID__INIT;
        Firesteel__Mesos__ExecutorID executor = FIRESTEEL__MESOS__EXECUTOR_ID__INIT, *executors[] = {&executor};
        Firesteel__Mesos__Offer offer = FIRESTEEL__MESOS__OFFER__INIT, *offers[] = {&offer};
        Firesteel__Mesos__SchedulerEvent__Offers event = FIRESTEEL__MESOS__SCHEDULER_EVENT__OFFERS__INIT;
        size_t n = 0;

        id.value = (char *)"o1";
        agent.value = executor.value = (char *)"a1";
        offer.id = &id;
        offer.agent_id = &agent;
        offer.hostname = (char *)"h1";
        offer.resources = all;
        offer.n_resources = 4;
        offer.attributes = attributes;
        offer.n_attributes = 2;
        offer.executor_ids = executors;
        offer.n_executor_ids = 1;
        event.offers = offers;
        event.n_offers = 1;
        const struct mesos_offer *o = mesos_offers_of(&arena, &event, &n);
        assert_int_equal(n, 1);
        assert_string_equal(o->id, "o1");
        assert_string_equal(o->agent, "a1");
        assert_string_equal(o->hostname, "h1");
        assert_int_equal(o->n_resources, 3);
        assert_int_equal(o->resources[0].milli, 1500);
        assert_string_equal(o->resources[0].role, "dev");
        assert_string_equal(o->resources[0].reservation->principal, "p");
        assert_false(o->resources[0].reservation->has_labels);
        assert_int_equal(o->resources[1].ranges[1].begin, 32000);
        assert_string_equal(o->resources[2].role, "*");
        assert_string_equal(o->resources[2].items[0], "x");
        assert_int_equal(o->n_attributes, 1);
        assert_string_equal(o->attributes[0].text, "debian");
        assert_string_equal(o->executors[0], "a1");
        arena_deinit(&arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(offer_becomes_resources_and_attributes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
