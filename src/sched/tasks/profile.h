/* A resource profile as the task scheduler uses it: what each of its tasks takes from an executor, where its tasks may
 * run, and how many fit. Internal to this room.
 */
#pragma once

#include "sched/tasks/executors.h"

/* A custom resource that each task takes. */
struct profile_need {
        int resource; /* number of the name */
        int64_t amount;
};

struct sched_profile {
        int id;
        int cpus;          /* cores that each task takes */
        bool any_executor; /* tasks run on executors of every profile, else on those of this one */
        struct profile_need *needs;
        int n_needs;
        int slots;        /* tasks that live, enabled executors can run at once */
        int slots_of_one; /* tasks that the largest executor can run at once */
};

/* Copies @from. Assigns numbers to the names of its resources. */
struct sched_profile *sched_profile_new(const struct task_profile *from, struct name_index *resource_names);
void sched_profile_free(struct sched_profile *p);

static inline bool sched_profile_runs_on(const struct sched_profile *p, const struct sched_executor *e)
{
        return p->any_executor || p->id == e->profile;
}

/* The number of tasks that run at once on the executor when nothing else runs there; 0: it is of another profile. */
int sched_profile_slots_on(const struct sched_profile *p, const struct sched_executor *e);

/* The number of tasks that fit on the executor now. */
int sched_profile_room_on(const struct sched_profile *p, const struct sched_executor *e);

/* Returns true if one task fits on the executor now. */
bool sched_profile_fits(const struct sched_profile *p, const struct sched_executor *e);

/* Takes the cores and resources of one task, which must fit. @shares has p->n_needs entries. */
void sched_profile_take(const struct sched_profile *p, struct sched_executor *e, struct resource_share *shares);
void sched_profile_give(const struct sched_profile *p, struct sched_executor *e, const struct resource_share *shares);
