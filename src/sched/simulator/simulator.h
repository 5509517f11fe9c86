/* Simulates a cluster under a virtual clock: the real scheduler with simulated executors.
 *
 * A seed makes a cluster: lineages and jobs, executors that start, die and are replaced on hosts, messages that take
 * time, arrive late, twice or never, tasks that take time and fail. Only the scheduler is real. A run depends only on
 * its options, so a seed reproduces a failure. These invariants are checked at every step and at the end:
 *
 *      every output of a job is accepted once, and all of them in a job that succeeded;
 *      every job ends once, with success or with a reason;
 *      no executor has more runs than cores; none runs on a lost or disabled one; zombies launch nothing;
 *      an output that exists is not computed again; a task is lost only with its executor;
 *      a stage begins when its inputs exist where the scheduler says, written by the tasks that it names;
 *      no map output is counted on a lost executor; each is released once, and so is every object;
 *      nothing is launched where it is excluded, for the task, its set or the application;
 *      a task is launched with worse locality than possible only after its set has waited long enough;
 *      the tasks of a barrier stage are launched all together or not at all;
 *      a driver that goes on computes no output again whose result was journaled or that was committed;
 *      no two attempts commit, unless the first is known to have failed; in a successful save each partition has
 *      exactly one commit.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "sched/sched.h"
#include "sched/sched_recorder.h"

struct commit_coordinator;
typedef bool may_commit_fn(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt);

struct simulator_record {
        int32_t job, output;
        enum {
                SIMULATOR_RESULT,
                SIMULATOR_COMMIT,
                SIMULATOR_RESET,
                SIMULATOR_MAP_OUTPUT, /* `output` is the number of a map output: it was accepted; … */
                SIMULATOR_MAP_LOST,   /* … it is not used any more */
                SIMULATOR_CELEBORN,   /* … of a record of Celeborn's lifecycle manager */
        } kind;
};

/* A map output in Celeborn. */
struct simulator_map_output {
        int32_t shuffle, map, attempt;
        int64_t task;
};

struct simulator_commit {
        int32_t job, output;
};

/* A batch that ran when its driver died, on an executor that lives. */
struct simulator_held {
        int32_t executor; /* of the driver that has died; host, cores and profile are its own */
        int32_t host, cores, profile;
        int32_t job, shuffle; /* shuffle -1: tasks of the result stage */
        int32_t attempt;      /* of the shuffle at Celeborn */
        int64_t first_id;
        int32_t n, outputs[SCHED_MAX_RUN];
};

struct sim_celeborn;

/*
 * The journal of an application whose drivers die, and what its tasks have committed: the world that the next driver
 * finds. Zero-initialised. A permission to commit is durable before it is given, and a job's end before its action
 * returns; of later records a dead driver may leave any number.
 */
struct simulator_journal {
        VEC(struct simulator_record) records;
        size_t durable; /* so many are left for sure */
        VEC(struct simulator_commit) committed;
        VEC(struct simulator_held) held;
        int64_t next_task_id;     /* ids below are those of earlier drivers */
        int64_t taken_over;       /* tasks that went on with another driver */
        int64_t adopted, revoked; /* commits whose driver did not hear of them; permissions that were not used */
        bool lazy_commits;        /* for tests: permissions are not durable before they are given */
        VEC(struct simulator_map_output) outputs; /* of records; as celeborn_records */
        VEC(struct buf) celeborn_records;
        struct sim_celeborn *celeborn; /* its servers, between two drivers */
        int64_t kept;                  /* map outputs with which another driver went on */
        bool lazy_celeborn; /* for tests: the lifecycle manager does not wait until its records are durable */
};

void simulator_journal_deinit(struct simulator_journal *journal);

/*
 * The messages between driver and executors, for their cost: the simulator calls these where a driver's backend encodes
 * or decodes a message. They do not change the run. All are needed.
 */
struct simulator_messages {
        void (*executor_added)(void *owner, int executor, const char *id, const char *host, int cores);
        /* Its batches are lost. Before the scheduler knows. */
        void (*executor_lost)(void *owner, int executor);
        void (*stage_submitted)(void *owner, const struct stage *stage, const struct task_set *set);
        void (*launch)(void *owner, int executor, const struct task_set *set, const struct task_launch *run, int n);
        void (*kill_task)(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason);
        /* The batch with the tasks from @first_id has ended with these states, and the driver learns of it. */
        void (*status)(void *owner, int executor, int64_t first_id, int n, const enum task_state *states,
                       const int64_t *run_ns);
        void (*map_output_removed)(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle);
        void (*task_set_removed)(void *owner, const struct task_set *set);
        void (*turn_ended)(void *owner); /* collected messages are sent */
        void *owner;
};

struct simulator_options {
        uint64_t seed;
        bool random; /* the seed draws all following options but the last three, small ones */
        int executors, cores, hosts;
        int64_t tasks;
        int jobs, stages;        /* of each job; every stage but the first reads the one before and perhaps others */
        int64_t task_ns;         /* mean; tasks take half to one and a half of it */
        double loss;             /* chance that a message is lost (with its connection), late, or duplicated */
        double deaths;           /* per executor and minute */
        double stragglers;       /* chance that a task takes straggler_factor times as long */
        double straggler_factor; /* ≥ 1 */
        double fetch_failures;   /* chance that a task that reads a shuffle fails to fetch */
        double task_failures;    /* chance that an attempt fails */
        double cancels;          /* chance that a job is cancelled */
        double locality;         /* chance that a partition has a preferred executor or hosts */
        int racks;               /* number of racks of the hosts; 0: unknown */
        double barrier;          /* chance that a stage is a barrier stage */
        double saves;            /* chance that a job's tasks ask for permission to commit */
        struct {
                int workers;    /* map outputs are at so many workers of Celeborn; 0: elsewhere. Not with stores */
                double deaths;  /* per worker and minute */
                bool replicate; /* each file is at two workers */
                bool dynamic;   /* a map stage gets workers that register while it runs, if … */
                double dynamic_factor; /* … at least this share of those that it has is lost */
        } celeborn;
        bool stores; /* map outputs are stored outside of executors, while other tasks have the core */
        struct sched_config config;
        int64_t (*clock)(void);        /* ns, to measure the cost of decisions; NULL: not measured */
        struct sched_trace_sink trace; /* .write NULL: no trace */
        void (*disturb)(struct sched *s, int64_t turn,
                        uint32_t dice); /* for tests: breaks the scheduler, to check that it is noticed; may be NULL */
        struct simulator_journal *journal; /* of earlier drivers, and then of this one; NULL: not journaled */
        int64_t dies_at;                   /* the driver dies after so many events; 0: it does not. With a journal */
        const struct simulator_messages
                *messages;         /* NULL: messages are not encoded. Not with random, stores or Celeborn */
        may_commit_fn *may_commit; /* for tests: replaces commit_coordinator_may_commit; NULL: not replaced */
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

/* Results. All are counts, so a caller may add reports. */
struct simulator_report {
        int64_t jobs[3]; /* by enum job_result */
        int64_t executors, executors_lost, executors_disabled;
        int64_t placements; /* attempts launched */
        int64_t runs;       /* launch messages */
        int64_t long_runs;  /* of more than one task */
        int64_t retries, stages, stages_again, accepted, late_accepted, lost_tasks, kills, failures, fetch_failures;
        int64_t outputs_removed, messages_lost, messages_late, messages_twice, exhausted;
        int64_t events, turns;
        int64_t speculative, excluded, gangs, resets, unschedulable;
        int64_t levels[5]; /* first attempts with preferred locations, by enum task_locality */
        int64_t commits, commits_denied, commits_void; /* void: the attempt failed after its commit */
        int64_t workers, workers_lost, revives, shuffles_committed, files_committed, shuffles_lost, maps_again;
        int64_t virtual_ns;
        int64_t decisions, decision_ns; /* calls of the scheduler, and their duration by options.clock */
};

void simulator_report_add(struct simulator_report *sum, const struct simulator_report *more);

/* An invariant is violated. */
enum { FST_SIMULATOR_E_BROKEN = 1 };

/* Simulates until every job has ended. Returns 0, or FST_SIMULATOR_E_BROKEN with the violated invariant, the time and
 * the seed in @error. Fills @report in either case. The caller must check the options: positive counts, at most 2^24
 * tasks in a stage, chances in [0, 1], cores ≥ config.task_cpus.
 */
int simulator_run(const struct simulator_options *options, struct simulator_report *report, struct fst_error *error);

/*
 * Simulates an application whose driver dies @deaths times, each time after a random number of events; each next driver
 * goes on with what @journal tells. Returns as simulator_run. @report has the sum of all drivers.
 */
int simulator_run_drivers(const struct simulator_options *options, int deaths, struct simulator_journal *journal,
                          struct simulator_report *report, struct fst_error *error);
