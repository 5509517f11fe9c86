/* One simulated cluster. Internal to the files simulator*.c. Others use sched/simulator/simulator.h.
 *
 * simulator.c has the clock, the network and the executors; simulator_workload.c makes lineages and jobs;
 * simulator_invariants.c is the scheduler's owner and checks its decisions, with simulator_locality.c for task
 * placement, simulator_profiles.c for resource profiles, simulator_commits.c for output commits and
 * simulator_celeborn.c for map outputs in Celeborn. simulator_journal.c and simulator_celeborn_drivers.c go from a
 * driver that dies to the next one.
 */
#pragma once

#include "base/error.h"
#include "sched/commit_coordinator.h"
#include "sched/dag.h"
#include "sched/simulator/event_queue.h"
#include "sched/simulator/simulator.h"

enum sim_event {
        SIM_STEP,       /* run `index` of generation `number`: its task ends on the executor */
        SIM_STATUS,     /* statuses of `index` tasks from id `number` reach the driver */
        SIM_KILL,       /* task `number` gets its kill request */
        SIM_DIE,        /* executor `index` dies */
        SIM_NOTICE,     /* the driver notices the death */
        SIM_ADD,        /* an executor on host `index` registers */
        SIM_DISABLE,    /* executor `index` takes no new tasks */
        SIM_SUBMIT,     /* the next job */
        SIM_CANCEL,     /* kind `extra`, target `index` */
        SIM_UNREGISTER, /* shuffle `index` */
        SIM_CACHE,      /* the cached partitions of RDD `index` appear or disappear */
        SIM_ENABLE,     /* executor `index` takes tasks again */
        SIM_ASK,        /* task `number` asks the driver for permission to commit */
        SIM_ANSWER,     /* the reply (`index`) reaches task `number` */
        SIM_COMPUTED,   /* the driver learns that the batch with task `number` gives its core back */
        SIM_STORED,     /* the outputs of run `index` of generation `number` are stored */
        SIM_CELEBORN,   /* message `number` reaches a server of Celeborn, or the driver */
        SIM_WORKER_DIE, /* Celeborn's worker `index` dies */
        SIM_WORKER_ADD, /* another one registers */
};

/* SIM_ADD: number is the cores + SIM_PROFILE times the resource profile. */
enum { SIM_PROFILE = 1 << 20 };

enum sim_cancel { SIM_CANCEL_JOB, SIM_CANCEL_GROUP, SIM_CANCEL_TAG, SIM_CANCEL_STAGE, SIM_CANCEL_ALL };

struct sim_executor {
        int32_t host, cores, profile;
        int32_t used;    /* cores of runs that have not ended for the driver */
        int64_t gpu[2];  /* of each address, parts of RESOURCE_ONE that they hold */
        int32_t outputs; /* map outputs on it that the scheduler counts */
        int32_t first;   /* its runs; -1: none */
        int32_t storing; /* runs that gave their core back and have outputs to store */
        bool known;      /* the scheduler takes it for alive */
        bool works;      /* it really is alive */
        bool enabled;
        bool excluded; /* for the whole application */
        int64_t excluded_at;
        int64_t usable_since; /* known, enabled and not excluded since this event */
};

struct sim_host {
        bool excluded; /* for the whole application */
        int64_t excluded_at;
};

/* A run on its executor, until the driver knows the ends of all its tasks. */
struct sim_run {
        struct sim_set *set;
        int64_t first_id;
        int32_t executor, n;
        int32_t at;   /* number that have ended on the executor */
        int32_t left; /* number that have not ended for the driver */
        int32_t next, prev;
        int32_t cpus; /* cores that it holds */
        int64_t gpu[2];
        int32_t attempt;     /* at Celeborn, of the shuffle that it writes */
        uint32_t generation; /* steps of older generations are void */
        bool each;           /* statuses are sent one by one */
        bool storing;        /* has given its core back */
};

/* A task, by its id. */
struct sim_task {
        int32_t run; /* -1: the driver knows its end */
        uint8_t outcome;
        bool killed; /* on the driver's request */
        bool kill_came;
        bool told;
        bool telling;   /* its status is in the batch being delivered */
        uint8_t commit; /* enum sim_commit */
};

/* Progress of a save task's commit. */
enum sim_commit { SIM_COMMIT_NONE, SIM_COMMIT_ASKED, SIM_COMMIT_ALLOWED, SIM_COMMIT_DENIED, SIM_COMMIT_DONE };

/* A preferred location of a partition. */
struct sim_place {
        int32_t executor; /* -1: any */
        int32_t host;     /* ≥ sim->o.hosts: a host without executors */
};

/* Failed attempts of a task on an executor. */
struct sim_failure {
        int32_t executor, index, count;
};

typedef VEC(int32_t) sim_numbers;

/* Inputs of a stage attempt: the locations of the map outputs when it began. */
struct sim_input {
        int shuffle_id, n;
        int32_t *executors;
        int32_t attempt; /* at Celeborn */
};

struct sim_set {
        struct sim_input *inputs;
        int n_inputs;
        bool result;
        size_t deaths_seen;
        int dead_input, dead_map; /* the first missing one; -1: none */
        int stage, attempt, n;
        int profile;
        int save;                /* the job, if its tasks commit; otherwise -1 */
        int32_t attempt_written; /* of its shuffle at Celeborn */
        bool barrier;
        int64_t submitted, began; /* time, and number of the event */
        int32_t *first; /* by task: its locations are places[first[i]] … places[first[i + 1] - 1]; NULL: no task has any
                         */
        VEC(struct sim_place) places;
        VEC(struct sim_failure) failures;
        sim_numbers excluded, excluded_hosts; /* as the scheduler reported */
};

/* A map output that the simulated executors wrote. Its handle is index + 1. */
struct sim_output {
        int32_t executor, shuffle, map;
        int32_t attempt;   /* at Celeborn */
        int32_t journaled; /* its number in the journal + 1; 0: it is not there */
        int64_t task;
        enum { OUTPUT_WRITTEN, OUTPUT_COUNTED, OUTPUT_RELEASED } state;
};

struct sim_rdd {
        struct lineage lineage;
        struct sim *sim;
        bool whole;   /* all partitions are cached */
        bool located; /* its partitions may have preferred locations */
};

struct sim_job {
        struct lineage *final;
        VEC(int) partitions;
        bool some; /* only those partitions */
        int n;
        uint8_t *accepted;
        int64_t *committed;       /* a save: by partition, the task whose commit is valid; -1: none */
        int32_t *commit_attempts; /* stage attempt that committed it */
        bool save;
        bool submitted, started, ended, removed;
};

/* A resource profile: the cores and parts of the resource "gpu" that each task takes. */
struct sim_profile {
        int cpus;
        bool any; /* runs on executors of every profile */
        int64_t gpu;
};

struct sim {
        struct simulator_options o;
        struct simulator_report *report;
        struct fst_error *error;
        bool broken; /* an invariant is violated: stop */
        bool last;   /* sched_free was called */

        struct sched *s;
        uint64_t random;
        int64_t now, calm_at; /* after calm_at no faults occur */
        int64_t life_ns;      /* mean lifetime of an executor; 0: unlimited */
        int64_t stop_at;      /* events, for runs that stop in the middle; 0: at their end */
        int64_t end_at;       /* longer than any run that ends */
        struct event_queue queue;

        VEC(struct sim_rdd *) rdds;
        int n_shuffles;
        VEC(struct sim_job) jobs; /* by order of submission, which is the job's id */
        int submitted, ended;
        int64_t first_id; /* ids of tasks below are those of earlier drivers */
        VEC(struct sim_executor) executors;
        int n_known;
        VEC(struct sim_run) runs;
        int32_t spare_run; /* free list linked by next; -1: empty */
        VEC(struct sim_task) tasks;
        VEC(struct sim_output) outputs;
        VEC(int32_t) deaths; /* executors, in order */
        VEC(struct sim_host) hosts;
        struct sim_profile profiles[3]; /* by id; the first is the default one */
        int n_profiles;                 /* without the default one */
        bool merges;                    /* a stage may have RDDs of several profiles */
        struct task_profile answer;     /* for sim_profile */
        struct resource_request request;
        struct commit_coordinator *commits;
        struct sim_celeborn *celeborn;         /* NULL: map outputs are not there */
        const struct simulator_held *adopting; /* the batch that sched_adopt_run launches */
        const struct sim_set *gang; /* the barrier task set being launched, task i on gang_on[i]; NULL: none */
        sim_numbers gang_on;
        int gang_next;
        bool keeps_size;   /* lost executors are replaced by equal ones */
        char names[4][24]; /* of hosts, for sim_preferred */

        struct task_status batch[SCHED_MAX_RUN];
        struct task_fetch fetches[SCHED_MAX_RUN];
        int batched;
};

/* Reports the first violation. The loop stops at its next iteration. */
#define sim_check(sim, condition, ...)                                                                                 \
        ({                                                                                                             \
                bool holds_ = (condition);                                                                             \
                if (unlikely(!holds_))                                                                                 \
                        sim_broken((sim), __VA_ARGS__);                                                                \
                holds_;                                                                                                \
        })
void sim_broken(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number below @sides; a random choice; a time around @mean. */
uint32_t sim_roll(struct sim *sim, uint32_t sides);
bool sim_chance(struct sim *sim, double chance);
int64_t sim_spread(struct sim *sim, int64_t mean);

static inline void sim_at(struct sim *sim, int64_t delay, enum sim_event kind, int32_t index, int64_t number)
{
        event_queue_push(&sim->queue,
                         (struct event){.at = sim->now + delay, .kind = kind, .index = index, .number = number});
}

/* -------------------------------------------------------------------------------------- simulator_workload.c */

/* Draws the options of @sim->o for a random cluster, and its rare events. */
void sim_draw(struct sim *sim);

/* Makes lineages and jobs with their submission times. */
void sim_make_work(struct sim *sim);

/* Submits the next job. */
void sim_submit(struct sim *sim);
void sim_free_work(struct sim *sim);

/* ------------------------------------------------------------------------------------ simulator_invariants.c */

extern const struct sched_ops sim_ops;

/* The driver knows the end of a task: after the last one its run releases the core. */
void sim_task_ended(struct sim *sim, int64_t task_id);

/* @executor is lost, and the scheduler knows. */
void sim_check_lost(struct sim *sim, int executor);

/* No events are left. Checks that everything has ended. */
void sim_check_end(struct sim *sim);

/* Checks after sched_free. */
void sim_check_freed(struct sim *sim);

/* -------------------------------------------------------------------------------------- simulator_locality.c */

/* sched_ops.preferred, .may_prefer, .rack, .barrier_launching, .excluded */
int sim_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max);
bool sim_may_prefer(void *owner, const struct lineage *rdd);
const char *sim_rack(void *owner, const char *host);
void sim_barrier_launching(void *owner, struct task_set *set, const int *executors, int n);
void sim_excluded(void *owner, const struct exclusion *what);

/* The set begins: records the preferences of its tasks. */
void sim_places_begin(struct sim *sim, struct sim_set *s, const struct task_set *set);
void sim_places_end(struct sim_set *s);

/* An attempt of task @index failed on @executor and counts as a failure. */
void sim_places_failed(struct sim_set *s, int32_t index, int32_t executor);

/* Checks that the tasks of @run may be launched on @executor. */
void sim_places_check(struct sim *sim, int executor, const struct task_set *set, const struct task_launch *run, int n);

/* Called after each batch of the scheduler's decisions. */
void sim_places_check_turn(struct sim *sim);

/* -------------------------------------------------------------------------------------- simulator_profiles.c */

/* Draws profiles for a random world. Before the scheduler exists. */
void sim_profiles_draw(struct sim *sim);

/* The profile that an RDD asks for. */
int sim_profile_of_rdd(const struct sim *sim, int rdd);

/* Registers an executor with the scheduler. Returns its index. */
int sim_register(struct sim *sim, const char *id, const char *host, int cores, int profile);

/* sched_ops.profile */
const struct task_profile *sim_profile(void *owner, const int *ids, int n);

/* The profile of the stage that ends at @rdd. */
int sim_profile_of_stage(struct sim *sim, const struct lineage *rdd);

/* A task is about to run on @e: checks its profile, cores and resources. Then the run takes them, and gives them back.
 */
void sim_profiles_check(struct sim *sim, const struct sim_executor *e, const struct sim_set *s,
                        const struct task_launch *task);
void sim_profiles_take(struct sim *sim, struct sim_executor *e, struct sim_run *run, const struct task_launch *task);
void sim_profiles_give(struct sim_executor *e, struct sim_run *run);

/* --------------------------------------------------------------------------------------- simulator_commits.c */

/* The set begins. Its stage was removed. */
void sim_commits_begin(struct sim *sim, struct sim_set *s, const struct stage *stage);
void sim_commits_stage_removed(struct sim *sim, const struct stage *stage);

/* On the executor: the task has finished; returns true if it asks for permission now and continues with the reply. */
bool sim_commits_ask(struct sim *sim, int run, int64_t task_id);

/* A request reaches the driver. A reply reaches the task, which continues. */
void sim_commits_on_ask(struct sim *sim, int64_t task_id);
void sim_commits_on_answer(struct sim *sim, int64_t task_id, bool yes);

/* The attempt failed. Called while the scheduler knows the task. */
void sim_commits_failed(struct sim *sim, int64_t task_id, enum task_state state);

/* An output of a save was accepted; outputs were reset; the job succeeded. */
void sim_commits_accepted(struct sim *sim, struct sim_job *job, int output, int64_t task_id);
void sim_commits_reset(struct sim_job *job);
void sim_commits_check_job(struct sim *sim, const struct sim_job *job, int id);

/* -------------------------------------------------------------------------------------- simulator_celeborn.c */

/* Starts the servers and the lifecycle manager. The latter frees also the events that are left. */
void sim_celeborn_new(struct sim *sim);
void sim_celeborn_free(struct sim *sim);

/* Events: SIM_CELEBORN, SIM_WORKER_DIE, SIM_WORKER_ADD, and the deadline (INT64_MAX if no task waits). */
void sim_celeborn_on_message(struct sim *sim, int64_t number);
void sim_celeborn_on_die(struct sim *sim, int worker);
void sim_celeborn_add_worker(struct sim *sim);
int64_t sim_celeborn_deadline(const struct sim *sim);
void sim_celeborn_tick(struct sim *sim);

/* On the executor: the task has computed; returns true if it must wait, and continues with the answer. Else its outcome
 * tells whether it could read and push. */
bool sim_celeborn_waits(struct sim *sim, int run, int64_t task_id);

/* A map stage begins; a stage that reads @from begins. */
void sim_celeborn_begin(struct sim *sim, struct sim_set *s, const struct stage *stage);
void sim_celeborn_maps_ended(struct sim *sim, struct sim_input *input, const struct map_outputs *from);

/* False if a map task that has succeeded wrote to a shuffle that was given up meanwhile. */
bool sim_celeborn_has_output(struct sim *sim, int64_t task_id);

/* The cleaner removes a shuffle, unless a running job needs it (driver/cleaner.h). */
void sim_celeborn_clean(struct sim *sim, int shuffle);

/* Draws the servers of a random world. */
void sim_celeborn_draw(struct simulator_options *o);

/*
 * A driver that goes on with a journal. sim_celeborn_return rebuilds the lifecycle manager. The outputs of job @job
 * that earlier drivers have left: their number, and *@stored, which the caller frees; after the job was submitted,
 * sim_celeborn_kept counts those that the scheduler uses. A map output was accepted, or is not used any more.
 */
void sim_celeborn_return(struct sim *sim);
int sim_celeborn_stored(struct sim *sim, int job, struct earlier_output **stored);
void sim_celeborn_kept(struct sim *sim, const struct earlier_output *stored, int n);
void sim_celeborn_accepted(struct sim *sim, int job, struct sim_output *output);
void sim_celeborn_removed(struct sim *sim, const struct sim_output *output);

/* A fetch of the set failed: gives up the shuffle. Returns false if it was given up before. */
bool sim_celeborn_lost(struct sim *sim, const struct sim_set *set);

/* --------------------------------------------------------------------------------------- simulator_journal.c */

/* The outputs of the next job that earlier drivers have left, of @n; owned. NULL: none. */
uint8_t *sim_journal_done(struct sim *sim, int job, int n);

/* The job has started with those that the scheduler keeps. */
void sim_journal_started(struct sim *sim, struct sim_job *j, const struct job *job);

/* An output was accepted; outputs were reset; a job ended. */
void sim_journal_accepted(struct sim *sim, int job, int output);
void sim_journal_reset(struct sim *sim, int job);
void sim_journal_job_ended(struct sim *sim);

/*
 * The driver dies: what runs on living executors is held. The next one begins: these executors register. And the job
 * was submitted: its task sets adopt the batches that they need.
 */
void sim_journal_hold(struct sim *sim);
void sim_journal_return(struct sim *sim);
void sim_journal_adopt(struct sim *sim, int job);

/* A task may commit, and has committed. */
void sim_journal_allowed(struct sim *sim, int job, int output);
void sim_journal_committed(struct sim *sim, int job, int output);

/* The driver dies: checks that each commit has its permission in the journal. */
void sim_journal_check(struct sim *sim);

/* ----------------------------------------------------------------------------------------------- simulator.c */

/* A random choice that is false after calm_at. */
bool sim_mishap(struct sim *sim, double chance);

/* Delay of a message; -1: lost. @twice may be NULL for a message that cannot be duplicated. */
int64_t sim_travel(struct sim *sim, bool *twice);

/* A random lifetime around @mean, distributed exponentially. */
int64_t sim_lifetime(struct sim *sim, int64_t mean);

/* True if map outputs outlive executors because they are stored elsewhere. */
static inline bool sim_outputs_are_stored(const struct sim *sim)
{
        return sim->o.stores || sim->celeborn;
}

/* Bits derived only from the seed and three numbers. */
uint64_t sim_hash(const struct sim *sim, uint64_t a, uint64_t b, uint64_t c);

/* Starts an executor of a profile on @host with @cores, or a random number if @cores is 0. */
void sim_add_executor(struct sim *sim, int host, int cores, int profile);

/* Sends the message of a launched run, or of a kill request. */
void sim_send_run(struct sim *sim, int run);
void sim_send_kill(struct sim *sim, int64_t task_id);

/* Finds the set's first input on an executor that died. Returns false if all exist. */
bool sim_input_gone(struct sim *sim, struct sim_set *set);
