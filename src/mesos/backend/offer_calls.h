/* Calls of the master that answer offers, from the actions of the cores (offers/offer_actions.h). */
#pragma once

#include "base/vec.h"
#include "mesos/offers/offer_actions.h"
#include "mesos/protocol/mesos.pb-c.h"
#include "mesos/scheduler/mesos_scheduler.h"

#include <stdbool.h>

/* Tasks and their agents, which it owns. */
typedef VEC(struct mesos_task_place) offer_places;

/* ACCEPT with one task for each launch of the action. Returns false if no master is connected: it was not sent. */
bool offer_calls_accept(struct mesos_scheduler *scheduler, const struct offer_action *action,
                        Firesteel__Mesos__TaskInfo **tasks);
void offer_calls_decline(struct mesos_scheduler *scheduler, const struct offer_action *action);

/* SHUTDOWN: the agent ends the executor. */
void offer_calls_shutdown(struct mesos_scheduler *scheduler, const char *agent, const char *executor);

/* Adds a copy of the place of @task to @context, an offer_places. A callback of the cores. */
void offer_places_add(void *context, int64_t task, const char *agent);

/* RECONCILE of @places, which are freed. */
void offer_calls_reconcile(struct mesos_scheduler *scheduler, offer_places *places);
