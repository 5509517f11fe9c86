/*
 * See job_runner.h.
 *
 * The loop: take every message that is there, tell the scheduler, then let it give work to free cores once. So a
 * burst of outcomes costs one round. Jobs wait on a condition of their own.
 *
 * What executors are and how they are told is the backend's (scheduler_backend.h); the loop waits in it.
 */
#include "driver/job_runner.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/accumulators.h"
#include "driver/allocation.h"
#include "driver/custom_resources.h"
#include "driver/executor_details.h"
#include "driver/gangs.h"
#include "driver/local_properties.h"
#include "driver/pools.h"
#include "driver/scheduler_trace.h"
#include "driver/scheduler_backend.h"
#include "driver/starvation.h"
#include "driver/task_events.h"
#include "rdd/accumulator_updates.h"
#include "rdd/barrier_chain.h"
#include "rdd/rdd_class.h"
#include "sched/commit_coordinator.h"
#include "sched/map_outputs.h"
#include "sched/registered_resources.h"
#include "sched/sched.h"
#include "sched/sched_conf.h"
#include "sched/task_set.h"
#include "shuffle/shuffle_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* A job, and the thread that waits for it, on whose stack it lives until `ended`; or who is called then. */
struct job_wait {
        const struct job_request *request;
        struct strmap properties;
        pthread_cond_t done;
        bool ended;
        enum job_result result;
        char *message;
        int status; /* of the failure that ended it */
        int job_id;
        void (*then)(void *owner, int status, struct fst_error *error); /* NULL: a thread waits */
        void *owner;
};

enum message_kind {
        MESSAGE_SUBMIT,
        MESSAGE_RUN_DONE,
        MESSAGE_CANCEL,
        MESSAGE_CANCEL_JOB,
        MESSAGE_CANCEL_STAGE,
        MESSAGE_STOP,
        MESSAGE_QUIT,
        MESSAGE_GANG,
        MESSAGE_CALL,
        MESSAGE_UNWANTED
};

/* Something for the runner's thread to do, and the thread that waits for it. */
struct call_wait {
        void (*call)(void *owner, struct scheduler_backend *backend, bool allocates);
        void *owner;
        pthread_cond_t done;
        bool ended;
};

struct message {
        struct message *next;
        enum message_kind kind;
        struct job_wait *job;
        struct call_wait *call;
        struct slot_run *run;
        char *group, *tag;
        int id;                  /* of a job or a stage to be cancelled; or */
        const int *noted;        /* where that of a job is noted by now */
        struct gang_asker asker; /* MESSAGE_GANG, with its question */
        struct buf question;
        int executor; /* MESSAGE_UNWANTED: who is to go, and why */
        bool decommission;
        char *reason;
};

struct job_runner {
        struct fst_context *sc;
        struct sched *sched;
        struct scheduler_backend *backend;
        struct slot_run *spare; /* runs to be used again */
        struct commit_coordinator *commits;
        struct gangs *gangs;
        int n_resources;                        /* custom ones that each task asks for */
        struct registered_resources registered; /* whether there are enough for the first task */
        int64_t cores;                          /* that have registered */
        struct task_events *events;
        struct allocation *allocation; /* NULL: the number of executors does not follow the work */
        struct starvation starvation;

        pthread_t thread;
        pthread_mutex_t lock;
        struct message *first, **last; /* under lock */
        bool stopping;                 /* jobs are refused */
        char *abort_reason;            /* why the application cannot go on; NULL: it can */
        bool quitting;                 /* the thread ends when no task runs */
};

static void post(struct job_runner *r, struct message message)
{
        struct message *m = mem_alloc(sizeof(*m));
        *m = message;
        m->next = NULL;
        pthread_mutex_lock(&r->lock);
        *r->last = m;
        r->last = &m->next;
        pthread_mutex_unlock(&r->lock);
        r->backend->class->wake(r->backend);
}

/* --------------------------------------------------------------------------- what the scheduler asks for */

static void job_started(void *owner, struct job *job)
{
        struct job_runner *r = owner;
        struct job_wait *wait = job->user;
        wait->job_id = job->id;
        if (wait->request->job)
                __atomic_store_n(wait->request->job, job->id, __ATOMIC_RELAXED);
        task_events_job_started(r->events, job);
        allocation_job_started(r->allocation, job);
}

static struct stage_work *work_of(struct job_runner *r, struct stage *stage)
{
        struct stage_work *work = new0(struct stage_work);
        work->refs = 1;
        work->env = &r->sc->env;
        work->stage_id = stage->id;
        work->stage_attempt = stage->attempt;
        work->final = rdd_of(stage->lineage);
        if (stage_is_result(stage))
                work->action = ((struct job_wait *)stage->job->user)->request->action;
        else
                work->shuffled = rdd_of(stage->shuffle->child);

        /* Of a map stage that several jobs need, the first that does: Spark's. */
        const struct job *job = stage_is_result(stage) ? stage->job : stage->jobs.len ? stage->jobs.data[0] : NULL;
        if (job)
                strmap_merge(&work->properties, &job->properties);

        const int32_t *location_of;
        int n_executors;
        work->inputs = (struct shuffle_reader_env){
                .inputs = new_array(struct shuffle_inputs, (size_t)stage->n_parents),
                .n_inputs = stage->n_parents,
        };
        r->backend->class->locate(r->backend, &work->inputs, &location_of, &n_executors);
        for (int i = 0; i < stage->n_parents; i++) {
                const struct map_outputs *from = stage->parents[i]->outputs;
                struct shuffle_map *maps = new_array(struct shuffle_map, (size_t)from->n);
                /* None is there where a persisted RDD in between was whole: then it is not wanted either. */
                for (int m = 0; m < from->n; m++) {
                        int e = from->at[m].executor;
                        maps[m] = (struct shuffle_map){
                                .task_id = (int64_t)from->at[m].handle - 1,
                                .location = from->at[m].handle && e >= 0 && e < n_executors ? location_of[e] : -1};
                }
                work->inputs.inputs[i] =
                        (struct shuffle_inputs){.shuffle_id = from->shuffle_id, .n = from->n, .maps = maps};
        }
        return work;
}

static void stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct job_runner *r = owner;
        set->user = work_of(r, stage);
        if (stage->barrier || stage->indeterminate) /* what earlier ones bring does not count: they commit no more */
                commit_coordinator_stage_end(r->commits, stage->id);
        if (stage_is_result(stage))
                commit_coordinator_stage_start(r->commits, stage->id, stage->lineage->partitions);
        task_events_stage_submitted(r->events, stage, set);
        allocation_stage_submitted(r->allocation, r->sched, set);
        starvation_submitted(&r->starvation, now_ns());
}

struct slot_run *job_runner_run_new(struct job_runner *r)
{
        struct slot_run *run = r->spare;
        if (!run) {
                run = mem_alloc(sizeof(*run)); /* 86 KB; who fills a task zeroes it */
                memset(run, 0, offsetof(struct slot_run, tasks));
                return run;
        }
        r->spare = run->next;
        return run;
}

static void launch(void *owner, int executor, struct task_set *set, const struct task_launch *launches, int n)
{
        struct job_runner *r = owner;
        struct slot_run *run = job_runner_run_new(r);
        run->work = stage_work_ref(set->user);
        run->executor = executor;
        run->n = n;
        run->user = set;
        run->suspect = launches[0].suspect; /* then it is a run of one */
        run->locality = launches[0].locality;
        run->speculative = launches[0].speculative;
        for (int i = 0; launches[0].resources && i < r->n_resources; i++)
                task_resources_put(&run->resources, launches[0].resources[i].name, launches[0].resources[i].addresses,
                                   (size_t)launches[0].resources[i].n);
        for (int i = 0; i < n; i++) {
                struct slot_task *t = &run->tasks[i];
                memset(t, 0, sizeof(*t));
                t->info = (struct fst_task_info){.id = launches[i].task_id,
                                                 .stage = set->stage_id,
                                                 .stage_attempt = set->attempt,
                                                 .partition = launches[i].partition,
                                                 .attempt = launches[i].attempt};
                t->index = launches[i].index;
                t->output = launches[i].output;
        }
        task_events_launched(r->events, set, run);
        allocation_launched(r->allocation, run);
        starvation_launched(&r->starvation);
        r->backend->class->launch(r->backend, executor, run);
}

static void kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct job_runner *r = owner;
        r->backend->class->kill_task(r->backend, executor, task_id, interrupt, reason);
}

static void task_lost(void *owner, int executor, struct task_set *set, int64_t task_id, enum task_state state,
                      const char *message)
{
        /* The backend tells of the whole run: job_runner_run_lost. */
}

static void barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        struct job_runner *r = owner;
        const char **addresses = new_array(const char *, (size_t)n);
        for (int i = 0; i < n; i++)
                addresses[i] = r->sc->executors.data[executors[i]]->address;
        gangs_launching(r->gangs, set->stage_id, set->attempt, addresses, n);
        free(addresses);
}

static void outputs_reset(void *owner, struct job *job)
{
        struct action *action = ((struct job_wait *)job->user)->request->action;
        if (action->reset)
                action->reset(action);
}

static void stage_completed(void *owner, struct stage *stage, const char *failure)
{
        struct job_runner *r = owner;
        gangs_stage_end(r->gangs, stage->id, stage->attempt);
        task_events_stage_completed(r->events, stage, failure);
        allocation_stage_completed(r->allocation, stage);
}

/* 0, or what went wrong, with @error. */
static int outcome(struct job_wait *wait, struct fst_error *error)
{
        if (wait->result == JOB_SUCCEEDED)
                return 0;
        int status = wait->status ? wait->status : wait->result == JOB_CANCELLED ? -ECANCELED : -EIO;
        error_set(error, status, "%s", wait->message ? wait->message : strerror(-status));
        free(steal(wait->message));
        return status;
}

/* The waiting thread goes on, and takes the job's action with it. */
static void end_wait(struct job_runner *r, struct job_wait *wait)
{
        if (wait->then) {
                struct fst_error error = FST_ERROR_INIT;
                wait->then(wait->owner, outcome(wait, &error), &error);
                error_deinit(&error);
                strmap_deinit(&wait->properties);
                free(wait);
                return;
        }
        pthread_mutex_lock(&r->lock);
        wait->ended = true;
        pthread_cond_signal(&wait->done);
        pthread_mutex_unlock(&r->lock);
}

/* Tasks of the job that still run know its action no more: what they bring is dropped. */
static void forget_action(struct job_runner *r, const struct job *job)
{
        for (struct task_set *set = NULL; (set = sched_next_task_set(r->sched, set));)
                if (set->stage == job->result_stage && set->user)
                        ((struct stage_work *)set->user)->action = NULL;
}

static void job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct job_runner *r = owner;
        struct job_wait *wait = job->user;
        task_events_job_ended(r->events, job, message);
        allocation_job_ended(r->allocation, job);
        wait->result = result;
        wait->message = message ? mem_strdup(message) : NULL;
        /* Tasks of this process use the action itself: then the job is over when the last of them has ended. */
        if (!r->backend->class->elsewhere)
                return;
        forget_action(r, job);
        job->user = NULL;
        end_wait(r, wait);
}

static void map_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
        struct job_runner *r = owner;
        r->backend->class->remove_output(r->backend, executor, shuffle_id, map_partition, (int64_t)handle - 1);
}

static void task_set_removed(void *owner, struct task_set *set)
{
        struct job_runner *r = owner;
        r->backend->class->stage_removed(r->backend, set->user);
        stage_work_unref(set->user);
        set->user = NULL;
}

static void stage_removed(void *owner, struct stage *stage)
{
        struct job_runner *r = owner;
        commit_coordinator_stage_end(r->commits, stage->id);
        task_events_stage_removed(r->events, stage);
}

static void job_removed(void *owner, struct job *job)
{
        if (job->user)
                end_wait(owner, job->user);
}

static bool may_be_cached(const struct job_runner *r, const struct lineage *rdd)
{
        return r->backend->class->cached_on && __atomic_load_n(&rdd->storage_level, __ATOMIC_RELAXED);
}

/* Persisted partitions are read where they are kept, files where their blocks are. */
static bool may_prefer(void *owner, const struct lineage *rdd)
{
        return may_be_cached(owner, rdd) || rdd_of_const(rdd)->has_hosts;
}

static int cached_on(struct job_runner *r, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        int executors[16];
        if (!may_be_cached(r, rdd))
                return 0;
        int n = r->backend->class->cached_on(r->backend, rdd->id, partition, executors,
                                             MIN(max, (int)ARRAY_SIZE(executors)));
        for (int i = 0; i < n; i++)
                out[i] = (struct task_location){.executor = executors[i]};
        return n;
}

/* "localhost" is no place to prefer: it is everywhere. */
static int near_files(const fst_rdd *rdd, int partition, struct task_location *out, int max)
{
        const char *host = rdd->has_hosts ? rdd->class->hosts(rdd, partition) : NULL;
        int n = 0;
        for (; host && *host && n < max; host += strlen(host) + 1)
                if (strcmp(host, "localhost") != 0)
                        out[n++] = (struct task_location){.executor = -1, .host = host};
        return n;
}

static int preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        int n = cached_on(owner, rdd, partition, out, max);
        return n > 0 ? n : near_files(rdd_of_const(rdd), partition, out, max);
}

/* In a turn of its own: what the backend does about it is an event for the scheduler, which is busy with another. */
static void kill_executor(void *owner, int executor, bool decommission, const char *reason)
{
        struct job_runner *r = owner;
        if (r->backend->class->kill_executor)
                post(r, (struct message){.kind = MESSAGE_UNWANTED,
                                         .executor = executor,
                                         .decommission = decommission,
                                         .reason = mem_strdup(reason)});
}

static void excluded(void *owner, const struct exclusion *what)
{
        struct job_runner *r = owner;
        task_events_excluded(r->events, what);
}

static void speculative_submitted(void *owner, struct task_set *set, int index)
{
        struct job_runner *r = owner;
        task_events_speculative(r->events, set, index);
        allocation_speculative(r->allocation, set, index);
}

static void unschedulable(void *owner, struct task_set *set, bool yes)
{
        struct job_runner *r = owner;
        task_events_unschedulable(r->events, set, yes);
        allocation_unschedulable(r->allocation, set, yes);
}

static const struct sched_ops ops = {
        .excluded = excluded,
        .speculative_submitted = speculative_submitted,
        .unschedulable = unschedulable,
        .may_prefer = may_prefer,
        .preferred = preferred,
        .kill_executor = kill_executor,
        .job_started = job_started,
        .stage_submitted = stage_submitted,
        .launch = launch,
        .barrier_launching = barrier_launching,
        .outputs_reset = outputs_reset,
        .kill_task = kill_task,
        .task_lost = task_lost,
        .stage_completed = stage_completed,
        .job_ended = job_ended,
        .map_output_removed = map_output_removed,
        .task_set_removed = task_set_removed,
        .stage_removed = stage_removed,
        .job_removed = job_removed,
};

/* ------------------------------------------------------------------------------------------ what it is told */

/* A result that does not count. */
static void drop_result(struct job_runner *r, const struct slot_run *run, struct slot_task *t)
{
        struct action *action = run->work->action;
        if (action && action->class->discard && t->state == OUTCOME_SUCCESS && !t->is_encoded)
                action->class->discard(action, &t->result);
        if (run->work->shuffled && !t->shuffle_output)
                r->backend->class->remove_output(r->backend, run->executor, run->work->shuffled->shuffle.id,
                                                 t->info.partition, t->info.id);
        shuffle_output_unref(steal(t->shuffle_output));
}

/* Use the result of a task that counts; false if that failed, and then the task failed for good. */
static bool use_result(struct job_runner *r, struct action *action, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        int e = 0;
        if (t->is_encoded)
                e = task_result_decode(action, t->encoded.data, t->encoded.len, &t->result, &error);
        if (e == 0)
                e = action->merge(action, t->output, &t->result, &error);
        if (e == 0)
                return true;
        t->state = OUTCOME_FAILED;
        t->status = e;
        t->message =
                error.message ? steal(error.message) : mem_printf("its result could not be used: %s", strerror(-e));
        return false;
}

/* Count what the task added; as use_result. */
static bool use_accumulated(struct job_runner *r, struct slot_run *run, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *shuffled = run->work->shuffled;
        int e = shuffled ? accumulators_merge_map(r->sc->accumulators, shuffled->shuffle.id, t->info.partition,
                                                  t->accumulated, &error)
                         : accumulators_merge(r->sc->accumulators, t->accumulated, &error);
        if (e == 0)
                return true;
        drop_result(r, run, t);
        t->state = OUTCOME_FAILED;
        t->status = e;
        t->message = steal(error.message);
        return false;
}

/* An attempt has ended without success: another one may commit, if this one was allowed to. */
static void free_commit(struct job_runner *r, const struct slot_task *t)
{
        if (t->state != OUTCOME_SUCCESS && t->state != OUTCOME_COMMIT_DENIED)
                commit_coordinator_failed(r->commits, t->info.stage, t->info.stage_attempt, t->info.partition,
                                          t->info.attempt);
}

static enum task_state state_of(const struct slot_task *t)
{
        static const enum task_state states[] = {
                [OUTCOME_SUCCESS] = TASK_SUCCEEDED,
                [OUTCOME_FAILED] = TASK_FAILED,
                [OUTCOME_KILLED] = TASK_KILLED,
                [OUTCOME_FETCH_FAILED] = TASK_FETCH_FAILED,
                [OUTCOME_COMMIT_DENIED] = TASK_COMMIT_DENIED,
                [OUTCOME_LOST] = TASK_EXECUTOR_LOST,
        };
        return states[t->state];
}

void job_runner_run_done(struct job_runner *r, struct slot_run *run)
{
        struct task_status statuses[SLOT_RUN];
        struct task_fetch fetches[SLOT_RUN];
        struct action *action = run->work->action;
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                bool fatal = false;
                struct task_status *s = &statuses[i];
                *s = (struct task_status){.task_id = t->info.id, .run_ns = t->run_ns};
                if (t->state == OUTCOME_SUCCESS && !sched_task_counts(r->sched, t->info.id)) {
                        drop_result(r, run, t);
                } else if (t->state == OUTCOME_SUCCESS && t->accumulated && !use_accumulated(r, run, t)) {
                        fatal = true;
                } else if (t->state == OUTCOME_SUCCESS && action) {
                        fatal = !use_result(r, action, t);
                } else if (t->state == OUTCOME_SUCCESS) {
                        if (t->shuffle_output)
                                shuffle_store_put(r->sc->env.shuffles, run->work->shuffled->shuffle.id,
                                                  t->info.partition, t->info.id, steal(t->shuffle_output));
                        s->output = (uint64_t)t->info.id + 1;
                }
                if (action)
                        free_commit(r, t);
                s->state = fatal ? TASK_FAILED_FATAL : state_of(t);
                s->message = t->message;
                fetches[i] = (struct task_fetch){t->fetch_shuffle, t->fetch_map, t->fetch_executor};
                s->fetch = t->state == OUTCOME_FETCH_FAILED ? &fetches[i] : NULL;
        }
        task_events_ended(r->events, run);
        allocation_ended(r->allocation, run);
        r->backend->class->run_returned(r->backend, run);
        sched_status(r->sched, statuses, run->n, now_ns());
        job_runner_run_free(r, run);
}

void job_runner_run_free(struct job_runner *r, struct slot_run *run)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->message)
                        free(steal(t->message));
                if (t->encoded.data)
                        buf_deinit(&t->encoded);
                if (t->accumulated)
                        accumulator_updates_free(steal(t->accumulated));
        }
        stage_work_unref(steal(run->work));
        task_resources_deinit(&run->resources);
        run->next = r->spare;
        r->spare = run;
}

void job_runner_post_run_done(struct job_runner *r, struct slot_run *run)
{
        post(r, (struct message){.kind = MESSAGE_RUN_DONE, .run = run});
}

int job_runner_executor_added(struct job_runner *r, const struct executor_details *x)
{
        int index = sched_register_executor(r->sched, &x->spec, now_ns());
        if (index < 0)
                return index;
        r->cores += x->spec.cores;
        struct executor_ref *ref = new0(struct executor_ref);
        *ref = (struct executor_ref){.id = mem_strdup(x->spec.id),
                                     .host = mem_strdup(x->spec.host),
                                     .address = mem_printf("%s:%d", x->spec.host, x->port),
                                     .port = x->port};
        vec_push(&r->sc->executors, ref);
        task_events_executor_added(r->events, x);
        allocation_executor_added(r->allocation, index);
        return index;
}

void job_runner_executor_lost(struct job_runner *r, int executor, bool caused_by_app, const char *reason)
{
        sched_lose_executor(r->sched, executor, caused_by_app, reason, now_ns());
        task_events_executor_removed(r->events, r->sc->executors.data[executor], reason);
        allocation_executor_removed(r->allocation, executor, reason);
}

void job_runner_host_lost(struct job_runner *r, const char *host, const char *message)
{
        sched_lose_host(r->sched, host, message, now_ns());
}

void job_runner_task_suspected(struct job_runner *r, int64_t task_id)
{
        sched_suspect_task(r->sched, task_id);
}

void job_runner_run_lost(struct job_runner *r, struct slot_run *run, bool caused_by_app, const char *reason)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                t->state = OUTCOME_LOST;
                if (run->work->action)
                        free_commit(r, t);
                free(t->message); /* of one that had ended, while others' results were awaited */
                t->message = mem_printf("ExecutorLostFailure (executor %s exited %s) Reason: %s",
                                        sched_executor_id(r->sched, run->executor),
                                        caused_by_app ? "caused by one of the running tasks"
                                                      : "unrelated to the running tasks",
                                        reason);
                t->start_ms = t->start_ms ? t->start_ms : context_now_ms();
                t->finish_ms = context_now_ms();
        }
        run->lost_by_app = caused_by_app;
        task_events_ended(r->events, run);
        allocation_ended(r->allocation, run);
        job_runner_run_free(r, run);
}

void job_runner_abort(struct job_runner *r, const char *reason)
{
        log_error("SparkContext", "the application cannot go on: %s", reason);
        if (!r->abort_reason)
                r->abort_reason = mem_strdup(reason);
        r->stopping = true;
        sched_cancel_all(r->sched, now_ns());
}

bool job_runner_wants_result(struct job_runner *r, int64_t task_id, int64_t bytes)
{
        return sched_task_counts(r->sched, task_id) && sched_result_fits(r->sched, task_id, bytes, now_ns());
}

bool job_runner_may_commit(struct job_runner *r, int stage_id, int stage_attempt, int partition, int64_t task_id)
{
        struct task_attempt_info info;
        return sched_task(r->sched, task_id, &info) && info.partition == partition &&
               !((info.set->barrier || info.set->stage->indeterminate) && info.set->zombie) &&
               commit_coordinator_may_commit(r->commits, stage_id, stage_attempt, partition, info.attempt);
}

bool job_runner_host_excluded(struct job_runner *r, const char *host)
{
        return sched_host_excluded(r->sched, host);
}

void job_runner_executor_decommissioned(struct job_runner *r, int executor, bool host_too)
{
        sched_decommission_executor(r->sched, executor, host_too);
        allocation_executor_leaves(r->allocation, executor, true);
}

bool job_runner_output_moved(struct job_runner *r, int shuffle, int map_partition, int64_t task_id, int from, int to)
{
        if (!sched_move_output(r->sched, shuffle, map_partition, (uint64_t)task_id + 1, from, to))
                return false;
        allocation_shuffle_moved(r->allocation, to, shuffle);
        return true;
}

void job_runner_executor_disabled(struct job_runner *r, int executor)
{
        sched_disable_executor(r->sched, executor);
}

void job_runner_executor_killed(struct job_runner *r, int executor)
{
        sched_disable_executor(r->sched, executor);
        allocation_executor_leaves(r->allocation, executor, false);
}

void job_runner_rdd_block(struct job_runner *r, int executor, int rdd, int partition, bool in_memory, bool on_disk)
{
        allocation_rdd_block(r->allocation, executor, rdd, partition, in_memory, on_disk);
}

void job_runner_rdd_unpersisted(struct job_runner *r, int rdd)
{
        allocation_rdd_unpersisted(r->allocation, rdd);
}

static int refuse_job(struct job_runner *r, const struct job_request *request, struct fst_error *error)
{
        if (r->stopping)
                return error_set(error, -ESHUTDOWN, "%s", r->abort_reason ? r->abort_reason : "the context is stopped");
        if (!barrier_chain_possible(request->rdd, request->n))
                return error_set(error, -EINVAL, "%s", barrier_chain_refusal);
        return 0;
}

void job_runner_gang_ask(struct job_runner *r, const void *question, size_t len, const struct gang_asker *asker)
{
        gangs_ask(r->gangs, question, len, asker, now_ns());
}

/* Of a task in this process: on its thread. */
static int ask_gang(void *owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                    size_t *answer_len, struct fst_error *error)
{
        struct message m = {.kind = MESSAGE_GANG};
        struct gang_wait *wait = gang_wait_new(&m.asker);
        if (len)
                buf_append(&m.question, question, len);
        post(owner, m);
        return gang_wait_for(wait, stopped, answer, answer_len, error);
}

static void submit(struct job_runner *r, struct job_wait *wait)
{
        struct fst_error error = FST_ERROR_INIT;
        struct job_spec spec = {
                .final = &wait->request->rdd->lineage,
                .partitions = wait->request->partitions,
                .n_partitions = wait->request->n,
                .call_site = wait->request->call_site,
                .properties = &wait->properties,
                .user = wait,
        };
        int id = refuse_job(r, wait->request, &error);
        if (id == 0)
                id = sched_submit_job(r->sched, &spec, now_ns(), &error);
        if (id >= 0)
                return;
        wait->result = JOB_FAILED;
        wait->message = error.message ? steal(error.message) : NULL;
        wait->status = id;
        end_wait(r, wait);
}

static void receive(struct job_runner *r, struct message *m)
{
        switch (m->kind) {
        case MESSAGE_SUBMIT:
                submit(r, m->job);
                break;
        case MESSAGE_RUN_DONE:
                job_runner_run_done(r, m->run);
                break;
        case MESSAGE_CANCEL:
                if (m->tag)
                        sched_cancel_tag(r->sched, m->tag, NULL, now_ns());
                else if (m->group)
                        sched_cancel_group(r->sched, m->group, NULL, now_ns());
                else
                        sched_cancel_all(r->sched, now_ns());
                free(m->group);
                free(m->tag);
                break;
        case MESSAGE_CANCEL_JOB:
                sched_cancel_job(r->sched, m->noted ? __atomic_load_n(m->noted, __ATOMIC_RELAXED) : m->id, NULL,
                                 now_ns());
                break;
        case MESSAGE_CANCEL_STAGE:
                sched_cancel_stage(r->sched, m->id, NULL, now_ns());
                break;
        case MESSAGE_GANG:
                gangs_ask(r->gangs, (const uint8_t *)m->question.data, m->question.len, &m->asker, now_ns());
                buf_deinit(&m->question);
                break;
        case MESSAGE_CALL:
                m->call->call(m->call->owner, r->backend, r->allocation != NULL);
                pthread_mutex_lock(&r->lock);
                m->call->ended = true;
                pthread_cond_signal(&m->call->done);
                pthread_mutex_unlock(&r->lock);
                break;
        case MESSAGE_UNWANTED:
                r->backend->class->kill_executor(r->backend, m->executor, m->decommission, m->reason);
                free(m->reason);
                break;
        case MESSAGE_QUIT:
                r->quitting = true;
                __attribute__((fallthrough));
        case MESSAGE_STOP:
                r->stopping = true;
                sched_cancel_all(r->sched, now_ns());
                break;
        }
        free(m);
}

/* Wait for messages, or for the time that the scheduler asks for. */
static struct message *take_messages(struct job_runner *r)
{
        int64_t deadline = sched_deadline(r->sched), enough = registered_resources_deadline(&r->registered);
        deadline = MIN(deadline, gangs_deadline(r->gangs));
        deadline = MIN(deadline, r->starvation.next);
        if (!r->stopping)
                deadline = MIN(deadline, allocation_deadline(r->allocation));
        r->backend->class->wait(r->backend, MIN(deadline, enough));
        pthread_mutex_lock(&r->lock);
        struct message *all = r->first;
        r->first = NULL;
        r->last = &r->first;
        pthread_mutex_unlock(&r->lock);
        return all;
}

static bool enough_registered(struct job_runner *r, int64_t now)
{
        double ratio;
        if (r->registered.ready)
                return true;
        return registered_resources_ready(&r->registered, r->cores,
                                          r->backend->class->expected_cores(r->backend, &ratio), now);
}

static void *runner_main(void *arg)
{
        struct job_runner *r = arg;
        pthread_setname_np(pthread_self(), "dag-scheduler");
        log_set_context(r->sc->app_id, -1, -1);
        while (!r->quitting || !r->backend->class->idle(r->backend)) {
                struct message *m = take_messages(r);
                while (m) {
                        struct message *next = m->next;
                        receive(r, m);
                        m = next;
                }
                int64_t now = now_ns();
                if (sched_deadline(r->sched) <= now)
                        sched_tick(r->sched, now);
                if (gangs_deadline(r->gangs) <= now)
                        gangs_tick(r->gangs, now);
                if (!r->stopping && enough_registered(r, now))
                        sched_revive(r->sched, now);
                if (!r->stopping && allocation_deadline(r->allocation) <= now)
                        allocation_tick(r->allocation, now);
                if (r->starvation.next <= now)
                        starvation_tick(&r->starvation, now);
        }
        return NULL;
}

/* ------------------------------------------------------------------------------------------- life and use */

static int read_config(struct fst_context *sc, struct sched_config *config, struct pool_file *pools,
                       struct fst_error *error)
{
        _cleanup_free_ char *file = NULL;
        int e;
        if ((e = sched_config_read(sc->conf, config, error)) ||
            (e = conf_get_string(sc->conf, "spark.scheduler.allocation.file", &file, error)))
                return e;
        int cores = context_cores_of_one(sc);
        if (sc->master.kind != MASTER_LOCAL &&
            (e = conf_get_bool(sc->conf, "spark.shuffle.service.enabled", &config->outputs_outlive_executors, error)))
                return e;
        if (sc->master.kind == MASTER_LOCAL)
                config->max_failures = sc->master.max_failures;
        if (config->task_cpus > cores)
                return error_set(
                        error, -EINVAL,
                        "spark.task.cpus is %d, but %s %d cores: no task could ever run; make it at most that, or ask for more "
                        "cores",
                        config->task_cpus, sc->master.kind == MASTER_LOCAL ? "the master has" : "an executor has",
                        cores);
        if ((e = custom_resources_check(sc->conf, config, sc->master.kind == MASTER_LOCAL, error)))
                return e;
        if (config->mode == SCHEDULING_FIFO)
                return 0;
        if ((e = pools_read(file, pools, error)))
                return e;
        config->pools = pools->pools;
        config->n_pools = pools->n_pools;
        return 0;
}

static int wait_for_registration(struct job_runner *r, struct fst_error *error)
{
        const struct fst_conf *conf = r->sc->conf;
        double ratio = 0;
        int64_t waiting_ms, starvation_ms;
        int e = 0;
        if (r->backend->class->expected_cores)
                r->backend->class->expected_cores(r->backend, &ratio);
        if (conf_contains(conf, "spark.scheduler.minRegisteredResourcesRatio"))
                e = conf_get_double(conf, "spark.scheduler.minRegisteredResourcesRatio", &ratio, error);
        if (e == 0)
                e = conf_get_ms(conf, "spark.scheduler.maxRegisteredResourcesWaitingTime", &waiting_ms, error);
        if (e == 0)
                e = conf_get_ms(conf, "spark.starvation.timeout", &starvation_ms, error);
        if (e)
                return e;
        starvation_init(&r->starvation, MAX(starvation_ms, 1) * 1000000);
        if (!r->backend->class->expected_cores)
                ratio = 0;
        registered_resources_init(&r->registered, ratio, waiting_ms * 1000000, now_ns());
        return 0;
}

int job_runner_new(struct fst_context *sc, struct scheduler_backend *backend, struct job_runner **runner,
                   struct fst_error *error)
{
        struct job_runner *r = new0(struct job_runner);
        struct sched_config config;
        struct pool_file pools = POOL_FILE_INIT;
        r->sc = sc;
        r->backend = backend;
        r->commits = commit_coordinator_new();
        r->last = &r->first;
        pthread_mutex_init(&r->lock, NULL);

        int e = read_config(sc, &config, &pools, error);
        if (e == 0)
                e = allocation_new(sc, backend, &r->allocation, error);
        if (e) {
                job_runner_free(r);
                return e;
        }
        r->n_resources = config.n_resources;
        config.dynamic_allocation = r->allocation != NULL;
        r->sched = sched_new(&config, &ops, r);
        sched_config_deinit(&config);
        pool_file_deinit(&pools);
        if ((e = scheduler_trace_start(r->sched, sc->conf, error))) {
                job_runner_free(r);
                return e;
        }
        r->events = task_events_new(sc);
        sc->env.barrier = ask_gang;
        sc->env.barrier_owner = r;
        if ((e = gangs_new(sc->conf, &r->gangs, error)) == 0)
                e = wait_for_registration(r, error);
        allocation_start(r->allocation);
        if (e == 0)
                e = backend->class->start(backend, r, error);
        if (e == 0 && (e = -pthread_create(&r->thread, NULL, runner_main, r)))
                error_set(error, e, "cannot start the scheduler's thread: %s", strerror(-e));
        if (e) {
                r->thread = 0;
                job_runner_free(r);
                return e;
        }
        *runner = r;
        return 0;
}

void job_runner_stop(struct job_runner *r)
{
        post(r, (struct message){.kind = MESSAGE_STOP});
}

void job_runner_free(struct job_runner *r)
{
        if (!r)
                return;
        if (r->thread) {
                post(r, (struct message){.kind = MESSAGE_QUIT});
                pthread_join(r->thread, NULL);
        }
        for (struct message *m = r->first, *next; m; m = next) { /* of its own thread's last turn */
                next = m->next;
                if (m->kind == MESSAGE_SUBMIT && m->job->then) {
                        strmap_deinit(&m->job->properties);
                        free(m->job);
                }
                buf_deinit(&m->question);
                free(m->reason);
                free(m->group);
                free(m->tag);
                free(m);
        }
        if (r->sched)
                sched_free(r->sched);
        gangs_free(r->gangs);
        r->backend->class->free(r->backend);
        task_events_free(r->events);
        allocation_free(r->allocation);
        commit_coordinator_free(r->commits);
        free(r->abort_reason);
        while (r->spare) {
                struct slot_run *next = r->spare->next;
                free(r->spare);
                r->spare = next;
        }
        pthread_mutex_destroy(&r->lock);
        free(r);
}

int job_runner_run(struct job_runner *r, const struct job_request *request, struct fst_error *error)
{
        struct job_wait wait = {.request = request, .job_id = -1};
        struct strmap *local = local_properties(r->sc, false);
        if (local)
                strmap_merge(&wait.properties, local);
        pthread_cond_init(&wait.done, NULL);
        post(r, (struct message){.kind = MESSAGE_SUBMIT, .job = &wait});
        pthread_mutex_lock(&r->lock);
        while (!wait.ended)
                pthread_cond_wait(&wait.done, &r->lock);
        pthread_mutex_unlock(&r->lock);
        pthread_cond_destroy(&wait.done);
        strmap_deinit(&wait.properties);
        return outcome(&wait, error);
}

void job_runner_submit(struct job_runner *r, const struct job_request *request, const struct strmap *properties,
                       void (*ended)(void *owner, int status, struct fst_error *error), void *owner)
{
        struct job_wait *wait = new0(struct job_wait);
        *wait = (struct job_wait){.request = request, .job_id = -1, .then = ended, .owner = owner};
        strmap_merge(&wait->properties, properties);
        post(r, (struct message){.kind = MESSAGE_SUBMIT, .job = wait});
}

void job_runner_cancel_submitted(struct job_runner *r, const int *job)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL_JOB, .noted = job});
}

void job_runner_cancel_job(struct job_runner *r, int job)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL_JOB, .id = job});
}

void job_runner_cancel_stage(struct job_runner *r, int stage)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL_STAGE, .id = stage});
}

void job_runner_call(struct job_runner *r, void (*call)(void *owner, struct scheduler_backend *backend, bool allocates),
                     void *owner)
{
        struct call_wait wait = {.call = call, .owner = owner};
        pthread_cond_init(&wait.done, NULL);
        post(r, (struct message){.kind = MESSAGE_CALL, .call = &wait});
        pthread_mutex_lock(&r->lock);
        while (!wait.ended)
                pthread_cond_wait(&wait.done, &r->lock);
        pthread_mutex_unlock(&r->lock);
        pthread_cond_destroy(&wait.done);
}

struct removal {
        struct job_runner *runner;
        const int *shuffles;
        int n;
};

static void remove_shuffles(void *owner, struct scheduler_backend *backend, bool allocates)
{
        const struct removal *removal = owner;
        for (int i = 0; i < removal->n; i++) {
                sched_unregister_shuffle(removal->runner->sched, removal->shuffles[i]);
                allocation_shuffle_removed(removal->runner->allocation, removal->shuffles[i]);
        }
}

void job_runner_remove_shuffles(struct job_runner *r, const int *shuffles, int n)
{
        struct removal removal = {r, shuffles, n};
        job_runner_call(r, remove_shuffles, &removal);
}

void job_runner_cancel(struct job_runner *r, const char *group)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL, .group = group ? mem_strdup(group) : NULL});
}

void job_runner_cancel_tag(struct job_runner *r, const char *tag)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL, .tag = mem_strdup(tag)});
}
