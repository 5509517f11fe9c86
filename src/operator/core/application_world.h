/*
 * Random worlds for the core of SparkApplications: applications, drivers that end, users that change their minds,
 * operators that die, and an API server that fails, forgets answers, repeats and delays events, under a virtual clock.
 * `firesteel simulate --operator` and the core's test run them.
 *
 * Checked at every step: an application without changes by users never has more executions than its restart policy
 * allows, no event is sent for a state that the server did not store, and no request concerns a foreign pod. In the
 * end, without faults: each application comes to rest, or is deleted if it has a time to live, none is forgotten, and
 * each that asked for a UI service has it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Probabilities are 0 to 1. */
struct application_world_options {
        int applications;
        int steps;               /* with faults, of 400 ms each */
        double failed_requests;  /* the server fails a request before it has its effect */
        double lost_answers;     /* the answer to a request is lost */
        double refused_services; /* the server refuses a UI service for good */
        double late_events;      /* an application's events arrive a step later */
        double repeated_events;
        double crashes;        /* the operator dies in a step, and another begins */
        double clock_jumps;    /* the clock is set back or forward by an hour in a step */
        double wrong_clocks;   /* an operator that begins after a death is wrong by up to two days, before or behind */
        double times_to_live;  /* an application has one, of at most 30 s */
        double changes;        /* a user changes, suspends or deletes one application in a step */
        double driver_ends;    /* a driver ends in a step */
        double failed_drivers; /* a driver that ends has failed */
        double lost_drivers;   /* a driver that failed was evicted; not those of quiet applications */
        uint64_t seed;
};

/* The faults of the core's test. */
extern const struct application_world_options application_world_faults;

struct application_world_result {
        uint64_t requests, status_writes, submissions, crashes;
        int64_t virtual_ms;
        char *violation; /* owned; NULL: none */
};

void application_world_run(const struct application_world_options *o, struct application_world_result *result);
