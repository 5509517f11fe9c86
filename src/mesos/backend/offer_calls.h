/* Calls of the master that answer offers, from the actions of the cores (offers/offer_actions.h). */
#pragma once

#include "mesos/offers/offer_actions.h"
#include "mesos/protocol/mesos.pb-c.h"

#include <stdbool.h>

struct mesos_scheduler;

/* ACCEPT with one task for each launch of the action. Returns false if no master is connected: it was not sent. */
bool offer_calls_accept(struct mesos_scheduler *scheduler, const struct offer_action *action,
                        Firesteel__Mesos__TaskInfo **tasks);
void offer_calls_decline(struct mesos_scheduler *scheduler, const struct offer_action *action);

/* SHUTDOWN: the agent ends the executor. */
void offer_calls_shutdown(struct mesos_scheduler *scheduler, const char *agent, const char *executor);
