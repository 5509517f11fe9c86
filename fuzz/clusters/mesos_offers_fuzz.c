/*
 * An event of offers as bytes, for the cores that answer them: each offer has one answer, and what tasks take was
 * offered. The text of what agents lack comes from the same offers.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "mesos/offers/agent_offers.h"
#include "mesos/offers/coarse_offers.h"
#include "mesos/offers/fine_offers.h"
#include "mesos/offers/offer_message.h"
#include "mesos/protocol/mesos_messages.h"
#include "rpc/wire_memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_check_launches(const struct offer_action *a)
{
        static const char *const names[] = {"cpus", "mem", "gpus"};

        for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
                int64_t left = 0;
                for (size_t i = 0; i < a->accept.n_offers; i++)
                        left += mesos_resources_sum(a->accept.offers[i]->resources, a->accept.offers[i]->n_resources,
                                                    names[k]);
                for (size_t i = 0; i < a->accept.n_launches; i++)
                        left -= mesos_resources_sum(a->accept.launches[i].resources, a->accept.launches[i].n_resources,
                                                    names[k]);
                if (left < 0)
                        abort();
        }
}

static size_t fuzz_count_answers(const struct offer_action *a)
{
        if (a->kind == OFFER_ACTION_ACCEPT)
                fuzz_check_launches(a);
        return a->kind == OFFER_ACTION_ACCEPT    ? a->accept.n_offers
               : a->kind == OFFER_ACTION_DECLINE ? a->decline.n_offers
                                                 : 0;
}

static void fuzz_coarse(const struct mesos_offer *offers, size_t n)
{
        static const struct coarse_offers_config config = {.max_cores = 100,
                                                           .executor_memory = 512,
                                                           .executor_cores = 2,
                                                           .max_gpus = 2,
                                                           .port = 31000,
                                                           .limit = COARSE_OFFERS_NO_LIMIT};
        struct coarse_offers c;
        size_t answers = 0;

        coarse_offers_init(&c, &config);
        coarse_offers_received(&c, offers, n, 0);
        for (const struct offer_action *a; (a = coarse_offers_next_action(&c));)
                answers += fuzz_count_answers(a);
        if (answers != n || c.cores > 100 || c.gpus > 2)
                abort();
        coarse_offers_deinit(&c);
}

static void fuzz_fine(const struct mesos_offer *offers, size_t n)
{
        static const struct fine_offers_config config = {
                .executor_cores_milli = 500, .executor_memory = 512, .task_cores = 1};
        struct fine_offers f;
        size_t answers = 0;

        fine_offers_init(&f, &config);
        fine_offers_received(&f, offers, n);
        for (size_t i = 0; i < f.n_usable; i += 2)
                fine_offers_add_task(&f, i, (int64_t)i);
        fine_offers_answer(&f);
        for (const struct offer_action *a; (a = fine_offers_next_action(&f));)
                answers += fuzz_count_answers(a);
        if (answers != n)
                abort();
        fine_offers_deinit(&f);
}

/* Each agent has enough, or the text says what it lacks. */
static void fuzz_shortage(const struct mesos_offer *offers, size_t n)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct agent_offers agents = {0};
        struct mesos_constraints constraints;
        struct offer_needs needs = {.cpus_milli = 2000,
                                    .memory = 512,
                                    .port = 31000,
                                    .constraints = &constraints,
                                    .cpus_key = "cpus",
                                    .memory_key = "memory",
                                    .port_key = "port",
                                    .constraints_key = "constraints"};

        if (mesos_constraints_parse(&constraints, "rack:1;os:debian,ubuntu", NULL) < 0)
                abort();
        agent_offers_add(&agents, offers, n, needs.port, 0);
        if (agent_offers_put_shortage(&agents, &needs, 0, &text) > n || (n > 0) != (text.len > 0))
                abort();
        for (size_t i = 0; i < n; i++)
                if (!agent_offers_host(&agents, offers[i].agent))
                        abort();
        agent_offers_deinit(&agents);
        mesos_constraints_deinit(&constraints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct wire_memory memory = wire_memory_for(size);
        struct arena arena = ARENA_INIT;
        const mesos_scheduler_event *event;

        if (mesos_scheduler_event_read(&memory, data, size, &event, NULL) == 0 &&
            event->type == FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS) {
                size_t n;
                const struct mesos_offer *offers = mesos_offers_of(&arena, event->offers, &n);
                fuzz_coarse(offers, n);
                fuzz_fine(offers, n);
                fuzz_shortage(offers, n);
        }
        arena_deinit(&arena);
        arena_deinit(&memory.arena);
        return 0;
}
