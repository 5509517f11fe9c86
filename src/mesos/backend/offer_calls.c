/* See offer_calls.h. */
#include "mesos/backend/offer_calls.h"

#include "base/arena.h"
#include "base/mem.h"

#include <inttypes.h>

bool offer_calls_accept(struct mesos_scheduler *scheduler, const struct offer_action *action,
                        Firesteel__Mesos__TaskInfo **tasks)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        return mesos_scheduler_call_send(
                scheduler, call_message_accept(&arena, action->accept.offers, action->accept.n_offers, tasks,
                                               action->accept.n_launches, action->accept.refuse_ms));
}

void offer_calls_decline(struct mesos_scheduler *scheduler, const struct offer_action *action)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        mesos_scheduler_call_send(scheduler, call_message_decline(&arena, action->decline.offers,
                                                                  action->decline.n_offers, action->decline.refuse_ms));
}

void offer_calls_shutdown(struct mesos_scheduler *scheduler, const char *agent, const char *executor)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;

        mesos_scheduler_call_send(scheduler, call_message_shutdown(&arena, agent, executor));
}

void offer_places_add(void *context, int64_t task, const char *agent)
{
        offer_places *places = context;
        const struct mesos_task_place place = {.task = mem_printf("%" PRId64, task),
                                               .agent = *agent ? mem_strdup(agent) : NULL};

        vec_push(places, place);
}

void offer_calls_reconcile(struct mesos_scheduler *scheduler, offer_places *places)
{
        mesos_scheduler_reconcile(scheduler, places->data, places->len);
        for (size_t i = 0; i < places->len; i++) {
                free((void *)places->data[i].task);
                free((void *)places->data[i].agent);
        }
        vec_deinit(places);
}
