/*
 * The barrier stages that run now: where their tasks are, and who of them waits for the others
 * (sched/barrier_coordinator.h says when they have met).
 *
 *      barrier_launching       gangs_launching
 *      a task asks             gangs_ask → answered then or later, or when the stage attempt ends
 *      stage_completed         gangs_stage_end
 *
 * On the scheduler's thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct gangs;

/* Who is to be answered: exactly once, by one of the two, on the scheduler's thread. Copied. */
struct gang_asker {
        /* @reply is a packed BarrierReply, borrowed. */
        void (*reply)(void *asker, const uint8_t *reply, size_t len);
        void (*fail)(void *asker, const char *message);
        void *asker;
};

/* 0, or -EINVAL with @error for a spark.barrier.sync.timeout that is no time. */
int gangs_new(const struct fst_conf *conf, struct gangs **gangs, struct fst_error *error);

/* Who still waits is told that the application ends. */
void gangs_free(struct gangs *g);

/* The @n tasks of a stage attempt are about to run, at these addresses; copied. */
void gangs_launching(struct gangs *g, int stage, int attempt, const char *const *addresses, int n);

/* The stage attempt is over: who waits fails. Unknown ones are ignored. */
void gangs_stage_end(struct gangs *g, int stage, int attempt);

/* A task's question, a packed BarrierSync. Untrusted. */
void gangs_ask(struct gangs *g, const uint8_t *question, size_t len, const struct gang_asker *asker, int64_t now);

/* When gangs_tick wants to be called; INT64_MAX if nobody waits. */
int64_t gangs_deadline(const struct gangs *g);
void gangs_tick(struct gangs *g, int64_t now);

/*
 * For tasks in the driver's own process: a struct gang_asker whose asker waits on its own thread. gang_wait_for returns
 * what task_services.barrier does, once it was answered or @stopped (atomic) is set, and gives up the wait; it is freed
 * when both sides are done with it.
 */
struct gang_wait;
struct gang_wait *gang_wait_new(struct gang_asker *asker);
int gang_wait_for(struct gang_wait *wait, const int *stopped, uint8_t **answer, size_t *len, struct fst_error *error);
