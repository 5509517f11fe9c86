/* See offer_calls.h. */
#include "mesos/backend/offer_calls.h"

#include "base/arena.h"
#include "base/mem.h"

#include <inttypes.h>

bool offer_calls_accept(struct mesos_scheduler *scheduler, const struct offer_action *action,
                        Firesteel__Mesos__TaskInfo **tasks)
{
        Firesteel__Mesos__Filters filters = FIRESTEEL__MESOS__FILTERS__INIT;
        Firesteel__Mesos__Offer__Operation__Launch launch = FIRESTEEL__MESOS__OFFER__OPERATION__LAUNCH__INIT;
        Firesteel__Mesos__Offer__Operation operation = FIRESTEEL__MESOS__OFFER__OPERATION__INIT;
        Firesteel__Mesos__SchedulerCall__Accept accept = FIRESTEEL__MESOS__SCHEDULER_CALL__ACCEPT__INIT;
        mesos_scheduler_call call = FIRESTEEL__MESOS__SCHEDULER_CALL__INIT;
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        const size_t n_offers = action->accept.n_offers;
        Firesteel__Mesos__OfferID *ids = arena_alloc(&arena, n_offers * sizeof(*ids));
        Firesteel__Mesos__OfferID **id_pointers = arena_alloc(&arena, n_offers * sizeof(*id_pointers));

        for (size_t i = 0; i < n_offers; i++) {
                firesteel__mesos__offer_id__init(&ids[i]);
                ids[i].value = (char *)action->accept.offers[i]->id;
                id_pointers[i] = &ids[i];
        }
        launch.n_task_infos = action->accept.n_launches;
        launch.task_infos = tasks;
        operation.has_type = true;
        operation.type = FIRESTEEL__MESOS__OFFER__OPERATION__TYPE__LAUNCH;
        operation.launch = &launch;
        if (action->accept.refuse_ms >= 0) {
                filters.has_refuse_seconds = true;
                filters.refuse_seconds = (double)action->accept.refuse_ms / 1000;
        }
        accept.n_offer_ids = n_offers;
        accept.offer_ids = id_pointers;
        accept.n_operations = 1;
        accept.operations = &(Firesteel__Mesos__Offer__Operation *){&operation};
        accept.filters = &filters;
        call.type = FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__ACCEPT;
        call.accept = &accept;
        return mesos_scheduler_call_send(scheduler, &call);
}

void offer_calls_decline(struct mesos_scheduler *scheduler, const struct offer_action *action)
{
        const size_t n = action->decline.n_offers;
        _cleanup_free_ const char **ids = new_array(const char *, n);

        for (size_t i = 0; i < n; i++)
                ids[i] = action->decline.offers[i]->id;
        mesos_scheduler_decline(scheduler, ids, n,
                                action->decline.refuse_ms < 0 ? -1 : (double)action->decline.refuse_ms / 1000);
}

void offer_calls_shutdown(struct mesos_scheduler *scheduler, const char *agent, const char *executor)
{
        Firesteel__Mesos__AgentID agent_id = FIRESTEEL__MESOS__AGENT_ID__INIT;
        Firesteel__Mesos__ExecutorID executor_id = FIRESTEEL__MESOS__EXECUTOR_ID__INIT;
        Firesteel__Mesos__SchedulerCall__Shutdown shutdown = FIRESTEEL__MESOS__SCHEDULER_CALL__SHUTDOWN__INIT;
        mesos_scheduler_call call = FIRESTEEL__MESOS__SCHEDULER_CALL__INIT;

        agent_id.value = (char *)agent;
        executor_id.value = (char *)executor;
        shutdown.agent_id = &agent_id;
        shutdown.executor_id = &executor_id;
        call.type = FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__SHUTDOWN;
        call.shutdown = &shutdown;
        mesos_scheduler_call_send(scheduler, &call);
}

void offer_places_add(void *context, int64_t task, const char *agent)
{
        offer_places *places = context;
        const struct mesos_task_place place = {.task = mem_printf("%" PRId64, task), .agent = mem_strdup(agent)};

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
