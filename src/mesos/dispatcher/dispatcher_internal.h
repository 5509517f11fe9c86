/* Shared by dispatcher_core.c (drivers, records, requests) and dispatcher_offers.c (offers, updates). */
#pragma once

#include "mesos/dispatcher/dispatcher_core.h"

/* Releases what the actions of the last event pointed to. Each event calls it first. */
void dispatcher_begin(struct dispatcher *d);
void dispatcher_log(struct dispatcher *d, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void dispatcher_push_driver(struct dispatcher *d, enum dispatcher_action_kind kind, const struct mesos_driver *driver);
void dispatcher_push_revive(struct dispatcher *d);

struct mesos_driver *dispatcher_find(const struct dispatcher *d, const char *id);

/* Moves @driver to the list of @state. */
void dispatcher_move(struct dispatcher *d, struct mesos_driver *driver, enum mesos_driver_state state);

/* Moves @driver to the finished ones, of which it forgets the oldest beyond config.retained_drivers. */
void dispatcher_finish(struct dispatcher *d, struct mesos_driver *driver, int64_t now);

/* The task of a launched driver has ended: the driver waits for a retry or is finished. */
void dispatcher_task_ended(struct dispatcher *d, struct mesos_driver *driver, mesos_task_state state, int64_t now);
