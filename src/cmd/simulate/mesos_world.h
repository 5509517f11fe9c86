/*
 * A simulated Mesos master with its agents, for the cores that answer offers (mesos/offers): what it offers, what of an
 * answer it accepts, and which tasks run. It checks each answer as a master does, and more: a violation is the first
 * answer that no master or driver should ever see.
 *
 * Time runs in allocations of one second.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "cmd/simulate/world_chance.h"
#include "mesos/offers/offer_actions.h"

#include <stdbool.h>
#include <stdint.h>

#define MESOS_WORLD_ALLOCATION_NS INT64_C(1000000000)

enum world_task_state {
        WORLD_TASK_NONE,
        WORLD_TASK_LAUNCHED,
        WORLD_TASK_RUNNING,
        WORLD_TASK_KILLING,
        WORLD_TASK_ENDED
};

struct mesos_world_task {
        bool expected; /* to end: killed, or on a lost offer: no failure of the agent */
        int agent;
        enum world_task_state state;
        bool invalid;                           /* its offer was rescinded before it came to the master */
        int64_t cpus, memory;                   /* thousandths */
        int64_t executor_cpus, executor_memory; /* fine-grained: charged with this task */
};

struct mesos_world_agent {
        char id[24], host[24];
        int64_t cpus, memory; /* thousandths, in all */
        int64_t reserved;     /* cpus of the role "dev" among them */
        int64_t used_cpus, used_memory;
        int64_t filtered_until; /* no offers before */
        int failures;           /* of tasks, which the core may count */
        bool alive, debian;
        bool has_executor;                      /* fine-grained */
        int64_t executor_cpus, executor_memory; /* that it holds */
};

/* An offer of the event at hand. */
struct mesos_world_offer {
        int agent;
        int64_t cpus, memory;
        int answers;
        bool rescinded;
};

struct mesos_world {
        struct world_chance chance;
        int64_t now;
        bool suppressed;
        VEC(struct mesos_world_agent) agents;
        VEC(struct mesos_world_task) tasks; /* by id */
        struct arena arena;                 /* of the event at hand */
        struct mesos_offer *offers;
        struct mesos_world_offer *states;
        size_t n_offers;
        int64_t n_offered, n_accepted, n_declined, n_launched, n_revived, n_suppressed; /* counts for the report */
};

void mesos_world_init(struct mesos_world *w, uint64_t seed);
void mesos_world_deinit(struct mesos_world *w);

/* Adds an agent with so many cores and MiB; some have a role's resources and the attribute os:debian. */
void mesos_world_add_agent(struct mesos_world *w, int cores, int64_t memory, bool debian);

/* Makes the offers of one allocation, with @split chance of two offers of an agent. w->offers is valid until the next.
 */
void mesos_world_allocate(struct mesos_world *w, double split);

/* Rescinds the offer at @index before the answer comes: its tasks will be lost. */
void mesos_world_rescind(struct mesos_world *w, size_t index);

/* The answers of a core. @fine: tasks have executors. No task may come twice. */
void mesos_world_accept(struct mesos_world *w, const struct offer_action *action, bool fine);
void mesos_world_decline(struct mesos_world *w, const struct offer_action *action);
void mesos_world_revive(struct mesos_world *w);

/* Every offer of the allocation must have had one answer. */
void mesos_world_check_answers(struct mesos_world *w);

/* The task ends: gives its resources back. */
void mesos_world_end_task(struct mesos_world *w, int64_t id);

/* The executor of an agent ends, in fine-grained mode. */
void mesos_world_end_executor(struct mesos_world *w, int agent);

/* The master fails over: it knows no filters and no suppression. */
void mesos_world_fail_over(struct mesos_world *w);
