/*
 * What an executor tells its agent: the pure core of agent_gate.h. It keeps each update until the agent has
 * acknowledged it, and decides when to subscribe again and when to give up.
 *
 *      executor_session_init(&s, recovery_ms, backoff_ms);
 *      executor_session_subscribed(&s);
 *      executor_session_launched(&s, "17", task, len);         ← LAUNCH: RUNNING becomes an update
 *      executor_session_ended(&s, "17", FINISHED, NULL, now);
 *      while ((u = executor_session_next(&s))) …               sends an update, once for each subscription
 *      executor_session_acknowledged(&s, "17", uuid);          ← ACKNOWLEDGED
 *      executor_session_broken(&s, now);                       ← the stream has ended
 *
 * Invariant: of a task's updates at most one is on its way, the oldest. Pure: no I/O and no clock; times are ms of any
 * monotonic clock. Uuids are random, of version 4: agents refuse others.
 */
#pragma once

#include "base/list.h"
#include "mesos/offers/task_outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXECUTOR_UUID_LEN 16

struct session_task;

struct session_update {
        struct session_update *prev, *next;
        struct session_task *task;
        mesos_task_state state;
        char *message; /* NULL: none */
        double timestamp;
        uint8_t uuid[EXECUTOR_UUID_LEN];
        bool sent; /* in this subscription */
};

/* A task that has not ended, or whose updates are not all acknowledged. */
struct session_task {
        struct session_task *prev, *next;
        char *id;
        uint8_t *info; /* its TaskInfo, packed: subscriptions repeat it */
        size_t info_len;
        bool ended;
};

struct executor_session {
        LIST(struct session_task) tasks;
        LIST(struct session_update) updates; /* not acknowledged, oldest first */
        bool subscribed;
        int64_t recovery_ms; /* how long the agent may be gone; 0: not at all */
        int64_t backoff_ms;  /* the longest pause between two attempts */
        int64_t broken_at;   /* -1: it is not */
        int64_t retry_at;
        int attempts;
        uint64_t random;
};

void executor_session_init(struct executor_session *s, int64_t recovery_ms, int64_t backoff_ms, uint64_t seed);
void executor_session_deinit(struct executor_session *s);

void executor_session_subscribed(struct executor_session *s);

/* The connection has ended. Returns false if the executor must end, as it has no time for recovery. */
bool executor_session_broken(struct executor_session *s, int64_t now);

/* When the time for recovery has passed; INT64_MAX: the connection is not broken. */
int64_t executor_session_deadline(const struct executor_session *s);

/* Whether the time for recovery has passed. */
bool executor_session_gave_up(const struct executor_session *s, int64_t now);

/* A task of the agent. Copies @info. Returns false if the task is known already. */
bool executor_session_launched(struct executor_session *s, const char *id, const uint8_t *info, size_t len,
                               double timestamp);

/* Copies @message. Ignores tasks that are unknown or have ended. */
void executor_session_ended(struct executor_session *s, const char *id, mesos_task_state state,
                            const char *message, double timestamp);

/* Unknown uuids are ignored. */
void executor_session_acknowledged(struct executor_session *s, const char *id, const uint8_t *uuid, size_t len);

/* The next update to send, or NULL. It stays until it is acknowledged. */
struct session_update *executor_session_next(struct executor_session *s);

/* An update did not reach the agent: it is sent again. */
void executor_session_unsent(struct executor_session *s, const uint8_t *uuid);

/* Whether the agent has acknowledged everything. */
bool executor_session_is_settled(const struct executor_session *s);
