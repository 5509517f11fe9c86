/* Tests of the cores that answer offers: builds offers, and writes the actions of a core as text. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "mesos/offers/offer_actions.h"

#include <inttypes.h>

#define FIXTURE_SECOND INT64_C(1000000000)

/* cpus in thousandths, mem in MiB, ports BEGIN-END: a resource of 0 is left out. */
static inline struct mesos_offer fixture_offer(struct arena *a, const char *id, const char *agent, int64_t cpus,
                                               int64_t memory, int64_t gpus)
{
        struct mesos_resource *r = arena_alloc(a, 3 * sizeof(*r));
        size_t n = 0;
        if (cpus)
                r[n++] = (struct mesos_resource){.name = "cpus", .role = "*", .milli = cpus};
        if (memory)
                r[n++] = (struct mesos_resource){.name = "mem", .role = "*", .milli = memory * 1000};
        if (gpus)
                r[n++] = (struct mesos_resource){.name = "gpus", .role = "*", .milli = gpus * 1000};
        return (struct mesos_offer){.id = arena_copy(a, id, strlen(id)),
                                    .agent = arena_copy(a, agent, strlen(agent)),
                                    .hostname = arena_copy(a, agent, strlen(agent)),
                                    .resources = r,
                                    .n_resources = n};
}

static inline void fixture_put_resources(struct buf *out, const struct mesos_resource *r, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                buf_printf(out, "%s%s", i ? " " : "", r[i].name);
                if (strcmp(r[i].role, "*") != 0)
                        buf_printf(out, "(%s)", r[i].role);
                if (r[i].type == MESOS_VALUE_RANGES)
                        buf_printf(out, ":[%" PRIu64 "-%" PRIu64 "]", r[i].ranges[0].begin, r[i].ranges[0].end);
                else
                        buf_printf(out, ":%g", mesos_amount(r[i].milli));
        }
}

static inline void fixture_put_offers(struct buf *out, const struct mesos_offer *const *offers, size_t n,
                                      int64_t refuse_ms)
{
        for (size_t i = 0; i < n; i++)
                buf_printf(out, " %s", offers[i]->id);
        if (refuse_ms != MESOS_REFUSE_DEFAULT)
                buf_printf(out, " for %" PRId64, refuse_ms);
}

static inline void fixture_put_action(struct buf *out, const struct offer_action *x)
{
        switch (x->kind) {
        case OFFER_ACTION_ACCEPT:
                buf_printf(out, "accept");
                fixture_put_offers(out, x->accept.offers, x->accept.n_offers, x->accept.refuse_ms);
                for (size_t i = 0; i < x->accept.n_launches; i++) {
                        const struct mesos_launch *l = &x->accept.launches[i];
                        buf_printf(out, " [%" PRId64 "%s ", l->task, l->starts_executor ? "!" : "");
                        fixture_put_resources(out, l->resources, l->n_resources);
                        if (l->starts_executor) {
                                buf_printf(out, " + ");
                                fixture_put_resources(out, l->executor_resources, l->n_executor_resources);
                        }
                        buf_printf(out, "]");
                }
                break;
        case OFFER_ACTION_DECLINE:
                buf_printf(out, "decline");
                fixture_put_offers(out, x->decline.offers, x->decline.n_offers, x->decline.refuse_ms);
                break;
        case OFFER_ACTION_REVIVE:
                buf_printf(out, "revive");
                break;
        case OFFER_ACTION_SUPPRESS:
                buf_printf(out, "suppress");
                break;
        case OFFER_ACTION_KILL:
                buf_printf(out, "kill %" PRId64 " on %s", x->kill.task, x->kill.agent);
                break;
        case OFFER_ACTION_EXECUTOR_ENDED:
                buf_printf(out, "ended %" PRId64 " on %s%s: %s", x->ended.executor, x->ended.agent,
                           x->ended.caused_by_app ? " by app" : "", x->ended.reason);
                break;
        case OFFER_ACTION_SHUFFLE_SERVICE:
                buf_printf(out, "shuffle service %s", x->host);
                break;
        case OFFER_ACTION_LOG:
                return;
        }
        buf_printf(out, "\n");
}
