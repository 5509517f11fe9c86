/*
 * Calls of a framework as messages, without its id. A message is in @arena and points to the arguments, which it
 * borrows: mesos_scheduler_call_send sends it, or mesos_message_write keeps its bytes for later.
 */
#pragma once

#include "mesos/offers/mesos_offer.h"
#include "mesos/protocol/mesos_messages.h"

struct arena;

struct mesos_task_place {
        const char *task, *agent; /* agent may be NULL */
};

/* REVIVE, SUPPRESS, TEARDOWN. */
mesos_scheduler_call *call_message_new(struct arena *arena, Firesteel__Mesos__SchedulerCall__Type type);

/* Launches @tasks on the offers, all of one agent. @refuse_ms negative: the master's default of 5 s. */
mesos_scheduler_call *call_message_accept(struct arena *arena, const struct mesos_offer *const *offers, size_t n_offers,
                                          Firesteel__Mesos__TaskInfo **tasks, size_t n_tasks, int64_t refuse_ms);
mesos_scheduler_call *call_message_decline(struct arena *arena, const struct mesos_offer *const *offers, size_t n,
                                           int64_t refuse_ms);
/* @agent may be NULL. */
mesos_scheduler_call *call_message_kill(struct arena *arena, const char *task, const char *agent);

/* The agent ends the executor. */
mesos_scheduler_call *call_message_shutdown(struct arena *arena, const char *agent, const char *executor);

/* Asks for the states of @n tasks; 0 would ask for all. */
mesos_scheduler_call *call_message_reconcile(struct arena *arena, const struct mesos_task_place *tasks, size_t n);
