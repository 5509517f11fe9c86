/*
 * The scheduler under a virtual clock: the very objects that a driver links, among executors that are not there.
 *
 * A seed makes a world: lineages and jobs, executors on hosts that come, die and are replaced, messages that take
 * time, come late, twice or never, tasks that take time and fail. Nothing in it is real but the scheduler; a run
 * depends on nothing but its options, so a seed shows a failure again. What must hold whatever happens is checked at
 * every step and at the end:
 *
 *      every output of a job is accepted once, and all of them in a job that succeeded;
 *      every job ends, with success or with a reason, and ends once;
 *      no executor has more runs than cores; none runs on one that is lost or disabled; zombies launch nothing;
 *      an output that has one is not computed again; a task is lost only with its executor;
 *      a stage begins when what it reads is there, where the scheduler says, and written by who it says;
 *      no map output is counted on an executor that was lost; each is released once, and so is every object;
 *      nothing is launched on what is excluded, for the task, its set or the application;
 *      a task is launched farther away than it could be only when its set has waited for that long;
 *      the tasks of a barrier stage are launched all together or not at all;
 *      no two attempts commit, unless the first is known to have failed; in a save that succeeded all have, once.
 */
#pragma once

#include "sched/sched.h"
#include "sched/sched_recorder.h"

struct commit_coordinator;
typedef bool may_commit_fn(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt);

struct simulator_options {
        uint64_t seed;
        bool random; /* the seed draws all of what follows but the last three, in small */
        int executors, cores, hosts;
        int64_t tasks;
        int jobs, stages;        /* of each job; every stage but the first reads the one before and perhaps others */
        int64_t task_ns;         /* a task takes half to one and a half of it */
        double loss;             /* chance that a message is lost (its connection with it), late, or comes twice */
        double deaths;           /* of each executor in a minute */
        double stragglers;       /* chance that a task takes straggler_factor times as long */
        double straggler_factor; /* ≥ 1 */
        double fetch_failures;   /* chance that a task which reads a shuffle meets one */
        double task_failures;    /* chance that an attempt fails */
        double cancels;          /* chance that a job is cancelled */
        double locality;         /* chance that a partition prefers an executor or some hosts */
        int racks;               /* that hosts are spread over; 0: none are known */
        double barrier;          /* chance that a stage is a barrier stage */
        double saves;            /* chance that a job is one whose tasks ask before they commit */
        struct sched_config config;
        int64_t (*clock)(void);        /* ns, to measure what decisions cost; NULL: they are not measured */
        struct sched_trace_sink trace; /* .write NULL: no trace */
        void (*disturb)(struct sched *s, int64_t turn, uint32_t dice); /* for tests: breaks the scheduler, to see that
                                                                          it is noticed; NULL: not */
        may_commit_fn *may_commit; /* for tests: instead of commit_coordinator_may_commit; NULL: that */
};

/* One executor of one core, one task of a second, Spark's defaults, no faults. */
#define SIMULATOR_OPTIONS_DEFAULT                                                                                      \
        ((struct simulator_options){.seed = 1,                                                                         \
                                    .executors = 1,                                                                    \
                                    .cores = 1,                                                                        \
                                    .hosts = 1,                                                                        \
                                    .tasks = 1,                                                                        \
                                    .jobs = 1,                                                                         \
                                    .stages = 1,                                                                       \
                                    .task_ns = 1000000000,                                                             \
                                    .straggler_factor = 10,                                                            \
                                    .config = SCHED_CONFIG_DEFAULT})

/* What happened. Everything counts; a caller may add several. */
struct simulator_report {
        int64_t jobs[3]; /* by enum job_result */
        int64_t executors, executors_lost, executors_disabled;
        int64_t placements; /* attempts launched */
        int64_t runs;       /* messages that launched them */
        int64_t long_runs;  /* of more than one task */
        int64_t retries, stages, stages_again, accepted, late_accepted, lost_tasks, kills, failures, fetch_failures;
        int64_t outputs_removed, messages_lost, messages_late, messages_twice, exhausted;
        int64_t events, turns;
        int64_t speculative, excluded, gangs, resets, unschedulable;
        int64_t levels[5]; /* first attempts, by enum task_locality, of those that prefer places */
        int64_t commits, commits_denied, commits_void; /* void: of an attempt that failed after it */
        int64_t virtual_ns;
        int64_t decisions, decision_ns; /* calls of the scheduler, and what they took by options.clock */
};

void simulator_report_add(struct simulator_report *sum, const struct simulator_report *more);

/* An invariant does not hold. */
enum { FST_SIMULATOR_E_BROKEN = 1 };

/*
 * Simulate until every job has ended. 0; or FST_SIMULATOR_E_BROKEN with what does not hold, when, and for whom in
 * @error. @report is filled in either case. The options are the caller's to check: positive counts, at most 2^24
 * tasks in a stage, chances in [0, 1], cores ≥ config.task_cpus.
 */
int simulator_run(const struct simulator_options *options, struct simulator_report *report, struct fst_error *error);
