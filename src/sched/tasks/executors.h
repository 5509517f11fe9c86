/* The executors of an application: their hosts, racks and free resources, and the queue of those with a free core.
 * Internal to this room.
 *
 * An executor keeps its index and its entry forever, so that late reports about it (a failed fetch) find it.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/resources.h"
#include "sched/sched.h"

struct launched_batch;
struct sched_profile; /* sched/tasks/profile.h */

struct sched_executor {
        char *id;
        int host;    /* index in hosts */
        int profile; /* id of its resource profile */
        int cores, free;                 /* free: of lent cores, those without a task yet */
        bool lent;                       /* a core is for one task: executors_lend gives it, and the task's end takes it */
        bool alive;
        bool enabled;                    /* it is connected */
        bool decommissioned;             /* it is being or was decommissioned */
        bool host_too;                   /* and its disks go with it */
        bool excluded;                   /* for the whole application */
        bool queued;                     /* in the queue of executors with a free core */
        bool reported;                   /* a suspect task on it was named */
        int prev, next;                  /* in that queue; -1: none */
        uint64_t seq;                    /* in that queue: increasing from first to last */
        int cursors;                     /* task sets whose cursor is on it */
        int prev_on, next_on;            /* live executors of the host */
        struct resource_pool *resources; /* one for each custom resource that it has; NULL: none */
        int n_resources;
        struct launched_batch *runs;
        uint64_t loss_epoch; /* for dag.c: of the newest task set whose fetch failure was counted */
};

struct host {
        char *name;
        int rack;      /* index in racks; -1: unknown */
        int executors; /* first live executor on it; -1: none */
        int n_alive;
        bool excluded; /* for the whole application */
};

/* Maps strings to small numbers. */
struct name_index {
        VEC(char *) names;
        int32_t *slots; /* number + 1, open addressing; 0 is free */
        size_t n_slots;
};

/* The number of @name, assigned on first use; sets *@added. */
int name_index_add(struct name_index *x, const char *name, bool *added);
int name_index_find(const struct name_index *x, const char *name); /* -1: unknown */
void name_index_deinit(struct name_index *x);

struct executors {
        VEC(struct sched_executor) at; /* by index */
        VEC(struct host) hosts;
        struct name_index ids, host_names, racks, resource_names;
        VEC(int) by_id;         /* by number of the id → index of the newest executor with that id */
        VEC(int) alive_on_rack; /* by rack: live executors */
        int first, last;        /* queue of executors with a free core; -1: empty */
        uint64_t next_seq;
        VEC(struct sched_profile *) profiles; /* in the order of their first use; the default one is the first */
        int min_cpus;                         /* the fewest cores that a task of some profile takes */
        int n_alive;
        uint64_t membership; /* increases when an executor is added or lost */
        VEC(void *) cursors; /* for offers.c: task sets whose cursor is on a queued executor */
};

/* @profile is the default one. */
void executors_init(struct executors *x, const struct task_profile *profile);
void executors_deinit(struct executors *x);

/* As sched_register_executor. @rack may be NULL. */
int executors_add(struct executors *x, const struct executor_spec *spec,
                  const char *(*rack)(void *owner, const char *host), void *owner);

/* The profile with this id; NULL: it is not known yet. */
struct sched_profile *executors_profile(const struct executors *x, int id);

/* Makes a profile known, or returns the known one with its id. */
struct sched_profile *executors_add_profile(struct executors *x, const struct task_profile *profile);

/* The number of a host, which may have no executors. */
int executors_host_index(struct executors *x, const char *name, const char *(*rack)(void *owner, const char *host),
                         void *owner);

/* Change its usability (alive, enabled, decommissioned), and update slots and queue. */
void executors_set_dead(struct executors *x, int executor);
void executors_set_enabled(struct executors *x, int executor, bool enabled);
void executors_set_decommissioned(struct executors *x, int executor, bool host_too);

/* As sched_lend_cores. */
void executors_lend(struct executors *x, int executor, int cores);

void executors_set_excluded(struct executors *x, int executor, bool excluded);
void executors_set_host_excluded(struct executors *x, int host, bool excluded);

/* Returns true if it may get tasks. */
bool executors_usable(const struct executors *x, int executor);

/* Appends it to the queue, or moves it to the end, if it can take a task. Otherwise removes it. */
void executors_queue(struct executors *x, int executor);
void executors_unqueue(struct executors *x, int executor);

static inline struct sched_executor *executors_at(struct executors *x, int executor)
{
        return &x->at.data[executor];
}

static inline bool executors_known(const struct executors *x, int executor)
{
        return executor >= 0 && (size_t)executor < x->at.len;
}

static inline bool executors_alive(const struct executors *x, int executor)
{
        return executors_known(x, executor) && x->at.data[executor].alive;
}

static inline const char *executors_host(const struct executors *x, int executor)
{
        return x->hosts.data[x->at.data[executor].host].name;
}
