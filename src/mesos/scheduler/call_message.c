/* See call_message.h. */
#include "mesos/scheduler/call_message.h"

#include "base/arena.h"

typedef Firesteel__Mesos__SchedulerCall__Reconcile__Task reconcile_task;

mesos_scheduler_call *call_message_new(struct arena *arena, Firesteel__Mesos__SchedulerCall__Type type)
{
        mesos_scheduler_call *call =
                mesos_message_new(arena, mesos_scheduler_call, firesteel__mesos__scheduler_call__init);
        call->has_type = true;
        call->type = type;
        return call;
}

static Firesteel__Mesos__OfferID **call_offer_ids(struct arena *arena, const struct mesos_offer *const *offers,
                                                  size_t n)
{
        Firesteel__Mesos__OfferID **ids = arena_alloc(arena, n * sizeof(*ids));
        for (size_t i = 0; i < n; i++) {
                ids[i] = mesos_message_new(arena, Firesteel__Mesos__OfferID, firesteel__mesos__offer_id__init);
                ids[i]->value = (char *)offers[i]->id;
        }
        return ids;
}

/* Spark sends filters also if they are empty. */
static Firesteel__Mesos__Filters *call_filters(struct arena *arena, int64_t refuse_ms)
{
        Firesteel__Mesos__Filters *filters =
                mesos_message_new(arena, Firesteel__Mesos__Filters, firesteel__mesos__filters__init);
        filters->has_refuse_seconds = refuse_ms >= 0;
        filters->refuse_seconds = filters->has_refuse_seconds ? (double)refuse_ms / 1000 : filters->refuse_seconds;
        return filters;
}

static Firesteel__Mesos__TaskID *call_task_id(struct arena *arena, const char *task)
{
        Firesteel__Mesos__TaskID *id =
                mesos_message_new(arena, Firesteel__Mesos__TaskID, firesteel__mesos__task_id__init);
        id->value = (char *)task;
        return id;
}

/* NULL for NULL. */
static Firesteel__Mesos__AgentID *call_agent_id(struct arena *arena, const char *agent)
{
        if (!agent)
                return NULL;
        Firesteel__Mesos__AgentID *id =
                mesos_message_new(arena, Firesteel__Mesos__AgentID, firesteel__mesos__agent_id__init);
        id->value = (char *)agent;
        return id;
}

mesos_scheduler_call *call_message_accept(struct arena *arena, const struct mesos_offer *const *offers, size_t n_offers,
                                          Firesteel__Mesos__TaskInfo **tasks, size_t n_tasks, int64_t refuse_ms)
{
        mesos_scheduler_call *call = call_message_new(arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__ACCEPT);
        Firesteel__Mesos__SchedulerCall__Accept *accept = call->accept = mesos_message_new(
                arena, Firesteel__Mesos__SchedulerCall__Accept, firesteel__mesos__scheduler_call__accept__init);
        Firesteel__Mesos__Offer__Operation *operation =
                mesos_message_new(arena, Firesteel__Mesos__Offer__Operation, firesteel__mesos__offer__operation__init);

        operation->has_type = true;
        operation->type = FIRESTEEL__MESOS__OFFER__OPERATION__TYPE__LAUNCH;
        operation->launch = mesos_message_new(arena, Firesteel__Mesos__Offer__Operation__Launch,
                                              firesteel__mesos__offer__operation__launch__init);
        operation->launch->n_task_infos = n_tasks;
        operation->launch->task_infos = tasks;
        accept->n_offer_ids = n_offers;
        accept->offer_ids = call_offer_ids(arena, offers, n_offers);
        accept->n_operations = 1;
        accept->operations = arena_alloc(arena, sizeof(*accept->operations));
        accept->operations[0] = operation;
        accept->filters = call_filters(arena, refuse_ms);
        return call;
}

mesos_scheduler_call *call_message_decline(struct arena *arena, const struct mesos_offer *const *offers, size_t n,
                                           int64_t refuse_ms)
{
        mesos_scheduler_call *call = call_message_new(arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__DECLINE);
        call->decline = mesos_message_new(arena, Firesteel__Mesos__SchedulerCall__Decline,
                                          firesteel__mesos__scheduler_call__decline__init);
        call->decline->n_offer_ids = n;
        call->decline->offer_ids = call_offer_ids(arena, offers, n);
        call->decline->filters = call_filters(arena, refuse_ms);
        return call;
}

mesos_scheduler_call *call_message_kill(struct arena *arena, const char *task, const char *agent)
{
        mesos_scheduler_call *call = call_message_new(arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__KILL);
        call->kill = mesos_message_new(arena, Firesteel__Mesos__SchedulerCall__Kill,
                                       firesteel__mesos__scheduler_call__kill__init);
        call->kill->task_id = call_task_id(arena, task);
        call->kill->agent_id = call_agent_id(arena, agent);
        return call;
}

mesos_scheduler_call *call_message_shutdown(struct arena *arena, const char *agent, const char *executor)
{
        mesos_scheduler_call *call = call_message_new(arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__SHUTDOWN);
        call->shutdown = mesos_message_new(arena, Firesteel__Mesos__SchedulerCall__Shutdown,
                                           firesteel__mesos__scheduler_call__shutdown__init);
        call->shutdown->agent_id = call_agent_id(arena, agent);
        call->shutdown->executor_id =
                mesos_message_new(arena, Firesteel__Mesos__ExecutorID, firesteel__mesos__executor_id__init);
        call->shutdown->executor_id->value = (char *)executor;
        return call;
}

mesos_scheduler_call *call_message_reconcile(struct arena *arena, const struct mesos_task_place *tasks, size_t n)
{
        mesos_scheduler_call *call = call_message_new(arena, FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__RECONCILE);
        reconcile_task **list = arena_alloc(arena, n * sizeof(*list));
        for (size_t i = 0; i < n; i++) {
                list[i] = mesos_message_new(arena, reconcile_task,
                                            firesteel__mesos__scheduler_call__reconcile__task__init);
                list[i]->task_id = call_task_id(arena, tasks[i].task);
                list[i]->agent_id = call_agent_id(arena, tasks[i].agent);
        }
        call->reconcile = mesos_message_new(arena, Firesteel__Mesos__SchedulerCall__Reconcile,
                                            firesteel__mesos__scheduler_call__reconcile__init);
        call->reconcile->n_tasks = n;
        call->reconcile->tasks = list;
        return call;
}
