/*
 * The executors of an application: who they are, which hosts and racks they are on, what of them is free; and the
 * queue of those that have a core to give. For this room only.
 *
 * An executor keeps its index, and its entry, for ever: what is said of it later (a fetch that fails) finds it.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/resources.h"
#include "sched/sched.h"

struct task_run;

struct executor {
        char *id;
        int host; /* index in hosts */
        int cores, free;
        bool alive;
        bool enabled;                    /* its connection stands */
        bool decommissioned;             /* it will go, or has gone that way */
        bool host_too;                   /* and what is on its disks with it */
        bool excluded;                   /* from the whole application */
        bool queued;                     /* is in the queue of those with a free core */
        bool reported;                   /* a suspect on it was named */
        int prev, next;                  /* in that queue; -1: none */
        uint64_t seq;                    /* in that queue: rises from first to last */
        int cursors;                     /* task sets that are about to look at it */
        int prev_on, next_on;            /* living executors of the host */
        struct resource_pool *resources; /* one for each that tasks ask for; NULL: none is asked for */
        struct task_run *runs;
        uint64_t loss_epoch; /* for dag.c: of the newest task set whose fetch failure was believed */
};

struct host {
        char *name;
        int rack;      /* index in racks; -1: not known */
        int executors; /* the first of the living ones on it; -1: none */
        int n_alive;
        bool excluded; /* from the whole application */
};

/* Strings to small numbers. */
struct name_index {
        VEC(char *) names;
        int32_t *slots; /* number + 1, open addressing; 0 is free */
        size_t n_slots;
};

/* The number of @name, given on first sight; *@added tells. */
int name_index_add(struct name_index *x, const char *name, bool *added);
int name_index_find(const struct name_index *x, const char *name); /* -1: not there */
void name_index_deinit(struct name_index *x);

struct executors {
        VEC(struct executor) at; /* by index */
        VEC(struct host) hosts;
        struct name_index ids, host_names, racks;
        VEC(int) by_id;         /* number of the id → index of the newest executor of that id */
        VEC(int) alive_on_rack; /* by rack: living executors */
        int first, last;        /* queue of executors with a free core; -1: empty */
        uint64_t next_seq;
        int task_cpus;
        const struct resource_request *requests; /* borrowed */
        int n_requests;
        int slots;        /* tasks that living, enabled executors can run at a time */
        int slots_of_one; /* that the largest one could */
        int n_alive;
        uint64_t membership; /* grows when one comes or goes */
        VEC(void *) cursors; /* for offers.c: task sets whose cursor is on a queued executor */
};

void executors_init(struct executors *x, int task_cpus, const struct resource_request *requests, int n_requests);
void executors_deinit(struct executors *x);

/* As sched_register_executor. @rack may be NULL. */
int executors_add(struct executors *x, const struct executor_spec *spec,
                  const char *(*rack)(void *owner, const char *host), void *owner);

/* The number of a host, which need not have executors. */
int executors_host_index(struct executors *x, const char *name, const char *(*rack)(void *owner, const char *host),
                         void *owner);

/* Its usability has changed (alive, enabled, decommissioned): keep slots and queue in step. */
void executors_set_dead(struct executors *x, int executor);
void executors_set_enabled(struct executors *x, int executor, bool enabled);
void executors_set_decommissioned(struct executors *x, int executor, bool host_too);

void executors_set_excluded(struct executors *x, int executor, bool excluded);
void executors_set_host_excluded(struct executors *x, int host, bool excluded);

/* Whether it may get tasks. */
bool executors_usable(const struct executors *x, int executor);

/* Join the queue, or go to its end, if it can take a task; leave it. */
void executors_queue(struct executors *x, int executor);
void executors_unqueue(struct executors *x, int executor);

static inline struct executor *executors_at(struct executors *x, int executor)
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
