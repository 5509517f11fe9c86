/*
 * Where containers are wanted, so that tasks find their data (Spark's LocalityPreferredContainerPlacementStrategy).
 *
 * Given how many tasks prefer each host, it computes how many containers each host should have, subtracts those that
 * are there or asked for, and spreads the containers to request in that ratio.
 */
#pragma once

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* A host that tasks prefer. Strings are borrowed. */
struct preferred_host {
        const char *host;
        const char *rack; /* or NULL */
        int tasks;        /* that prefer the host; a task that prefers several is counted at each */
        int containers;   /* of this profile that run there */
        int pending;      /* requests that name the host and still wait */
};

/* `count` containers on any of `n` hosts: the hosts with the most tasks, in the order of the input. n 0: anywhere. */
struct container_placement {
        size_t *hosts; /* indices into the input */
        size_t n;
        int count;
};

struct container_placements {
        struct container_placement *data;
        size_t len, cap;
};

/*
 * Divides @count containers. @locality_tasks: tasks that prefer some host; @tasks_per_container: how many run at a time
 * in one;
 * @pending_requests: waiting requests that name one of the hosts. Appends placements whose counts add up to @count,
 * those without hosts first.
 */
void container_placement_compute(const struct preferred_host *hosts, size_t n, int count, int locality_tasks,
                                 int tasks_per_container, int pending_requests, struct container_placements *out);
void container_placements_deinit(struct container_placements *p);
