/*
 * See job_runner.h.
 *
 * The loop: take every message that is there, tell the scheduler, then let it give work to free cores once. So a
 * burst of outcomes costs one round. Jobs wait on a condition of their own.
 *
 * A slot has at most one run at a time, and the scheduler knows how many cores there are, so a free slot exists
 * whenever it launches.
 */
#include "driver/job_runner.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/local_properties.h"
#include "driver/pools.h"
#include "driver/task_events.h"
#include "exec/slot.h"
#include "sched/map_outputs.h"
#include "sched/sched.h"
#include "sched/task_set.h"
#include "shuffle/shuffle_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* A job and the thread that waits for it. Lives on that thread's stack until `ended`. */
struct job_wait {
        const struct job_request *request;
        struct strmap properties;
        pthread_cond_t done;
        bool ended;
        enum job_result result;
        char *message;
        int status; /* of the failure that ended it */
        int job_id;
};

enum message_kind { MESSAGE_SUBMIT, MESSAGE_RUN_DONE, MESSAGE_CANCEL, MESSAGE_STOP, MESSAGE_QUIT };

struct message {
        struct message *next;
        enum message_kind kind;
        struct job_wait *job;
        struct slot_run *run;
        char *group;
};

struct job_runner {
        struct fst_context *sc;
        struct sched *sched;
        int executor; /* the scheduler's index of the one executor */
        struct slot **slots;
        struct slot_run **running; /* by slot; NULL: idle */
        int n_slots;
        struct slot_run *spare; /* runs to be used again */
        struct task_events *events;

        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        struct message *first, **last; /* under lock */
        bool stopping;                 /* jobs are refused */
        bool quitting;                 /* the thread ends when no task runs */
};

static int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void post(struct job_runner *r, struct message message)
{
        struct message *m = mem_alloc(sizeof(*m));
        *m = message;
        m->next = NULL;
        pthread_mutex_lock(&r->lock);
        *r->last = m;
        r->last = &m->next;
        pthread_cond_signal(&r->wake);
        pthread_mutex_unlock(&r->lock);
}

/* --------------------------------------------------------------------------- what the scheduler asks for */

static void job_started(void *owner, struct job *job)
{
        struct job_runner *r = owner;
        struct job_wait *wait = job->user;
        wait->job_id = job->id;
        task_events_job_started(r->events, job);
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

        struct shuffle_inputs *inputs = new_array(struct shuffle_inputs, (size_t)stage->n_parents);
        for (int i = 0; i < stage->n_parents; i++) {
                const struct map_outputs *from = stage->parents[i]->outputs;
                inputs[i].shuffle_id = from->shuffle_id;
                inputs[i].n = from->n;
                inputs[i].outputs = new_array(struct shuffle_output *, (size_t)from->n);
                for (int m = 0; m < from->n; m++) {
                        /* None is there where a persisted RDD in between was whole: then it is not wanted either. */
                        struct shuffle_output *output = (struct shuffle_output *)(uintptr_t)from->at[m].handle;
                        inputs[i].outputs[m] = output ? shuffle_output_ref(output) : NULL;
                }
        }
        work->inputs = (struct shuffle_reader_env){
                .inputs = inputs, .n_inputs = stage->n_parents, .space = &r->sc->shuffles->space};
        return work;
}

static void stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct job_runner *r = owner;
        set->user = work_of(r, stage);
        task_events_stage_submitted(r->events, stage, set);
}

static struct slot_run *run_new(struct job_runner *r)
{
        struct slot_run *run = r->spare;
        if (!run)
                return mem_zero(sizeof(*run));
        r->spare = run->next;
        return run;
}

static void launch(void *owner, int executor, struct task_set *set, const struct task_launch *launches, int n)
{
        struct job_runner *r = owner;
        struct slot_run *run = run_new(r);
        run->work = stage_work_ref(set->user);
        run->n = n;
        run->user = set;
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
        for (run->slot = 0; r->running[run->slot];)
                run->slot++;
        r->running[run->slot] = run;
        slot_give(r->slots[run->slot], run);
}

static void kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct job_runner *r = owner;
        for (int s = 0; s < r->n_slots; s++) {
                struct slot_run *run = r->running[s];
                for (int i = 0; run && i < run->n; i++) {
                        if (run->tasks[i].info.id != task_id)
                                continue;
                        log_info("Executor",
                                 "Executor is trying to kill task %d.%d in stage %d.%d (TID %" PRId64 "), reason: %s",
                                 run->tasks[i].index, run->tasks[i].info.attempt, run->tasks[i].info.stage,
                                 run->tasks[i].info.stage_attempt, task_id, reason);
                        __atomic_store_n(&run->tasks[i].killed, 1, __ATOMIC_RELAXED);
                        return;
                }
        }
}

static void task_lost(void *owner, int executor, struct task_set *set, int64_t task_id, enum task_state state,
                      const char *message)
{
        /* The one executor of local mode is this process: it is never lost. */
}

static void stage_completed(void *owner, struct stage *stage, const char *failure)
{
        struct job_runner *r = owner;
        task_events_stage_completed(r->events, stage, failure);
}

static void job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct job_runner *r = owner;
        struct job_wait *wait = job->user;
        task_events_job_ended(r->events, job, message);
        wait->result = result;
        wait->message = message ? mem_strdup(message) : NULL;
}

/* The waiting thread goes on; it owns the action, so not before the last task that uses it has ended. */
static void end_wait(struct job_runner *r, struct job_wait *wait)
{
        pthread_mutex_lock(&r->lock);
        wait->ended = true;
        pthread_cond_signal(&wait->done);
        pthread_mutex_unlock(&r->lock);
}

static void map_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
        shuffle_output_unref((struct shuffle_output *)(uintptr_t)handle);
}

static void task_set_removed(void *owner, struct task_set *set)
{
        stage_work_unref(set->user);
        set->user = NULL;
}

static void stage_removed(void *owner, struct stage *stage)
{
        struct job_runner *r = owner;
        task_events_stage_removed(r->events, stage);
}

static void job_removed(void *owner, struct job *job)
{
        end_wait(owner, job->user);
}

static const struct sched_ops ops = {
        .job_started = job_started,
        .stage_submitted = stage_submitted,
        .launch = launch,
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

static void drop_result(struct action *action, struct slot_task *t)
{
        if (action && action->discard && t->state == OUTCOME_SUCCESS)
                action->discard(action, &t->result);
        shuffle_output_unref(steal(t->shuffle_output));
}

/* Use the result of a task that counts; false if that failed, and then the task failed for good. */
static bool use_result(struct job_runner *r, struct action *action, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        int e = action->merge(action, t->output, &t->result, &error);
        if (e == 0)
                return true;
        t->state = OUTCOME_FAILED;
        t->status = e;
        t->message =
                error.message ? steal(error.message) : mem_printf("its result could not be used: %s", strerror(-e));
        return false;
}

static enum task_state state_of(const struct slot_task *t)
{
        static const enum task_state states[] = {
                [OUTCOME_SUCCESS] = TASK_SUCCEEDED,
                [OUTCOME_FAILED] = TASK_FAILED,
                [OUTCOME_KILLED] = TASK_KILLED,
                [OUTCOME_FETCH_FAILED] = TASK_FETCH_FAILED,
                [OUTCOME_COMMIT_DENIED] = TASK_COMMIT_DENIED,
        };
        return states[t->state];
}

static void run_done(struct job_runner *r, struct slot_run *run)
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
                        drop_result(action, t);
                } else if (t->state == OUTCOME_SUCCESS && action) {
                        fatal = !use_result(r, action, t);
                } else if (t->state == OUTCOME_SUCCESS) {
                        s->output = (uint64_t)(uintptr_t)steal(t->shuffle_output);
                }
                s->state = fatal ? TASK_FAILED_FATAL : state_of(t);
                s->message = t->message;
                fetches[i] = (struct task_fetch){t->fetch_shuffle, t->fetch_map, -1};
                s->fetch = t->state == OUTCOME_FETCH_FAILED ? &fetches[i] : NULL;
        }
        task_events_ended(r->events, run);
        r->running[run->slot] = NULL;
        sched_status(r->sched, statuses, run->n, now_ns());
        for (int i = 0; i < run->n; i++)
                free(run->tasks[i].message);
        stage_work_unref(steal(run->work));
        run->next = r->spare;
        r->spare = run;
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
        int id = r->stopping ? error_set(&error, -ESHUTDOWN, "the context is stopped")
                             : sched_submit_job(r->sched, &spec, now_ns(), &error);
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
                run_done(r, m->run);
                break;
        case MESSAGE_CANCEL:
                if (m->group)
                        sched_cancel_group(r->sched, m->group, NULL, now_ns());
                else
                        sched_cancel_all(r->sched, now_ns());
                free(m->group);
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

static bool idle(const struct job_runner *r)
{
        for (int s = 0; s < r->n_slots; s++)
                if (r->running[s])
                        return false;
        return true;
}

/* Wait for messages, or for the time that the scheduler asks for. */
static struct message *take_messages(struct job_runner *r)
{
        int64_t deadline = sched_deadline(r->sched);
        struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
        pthread_mutex_lock(&r->lock);
        while (!r->first)
                if (deadline == INT64_MAX)
                        pthread_cond_wait(&r->wake, &r->lock);
                else if (pthread_cond_timedwait(&r->wake, &r->lock, &until))
                        break;
        struct message *all = r->first;
        r->first = NULL;
        r->last = &r->first;
        pthread_mutex_unlock(&r->lock);
        return all;
}

static void *runner_main(void *arg)
{
        struct job_runner *r = arg;
        pthread_setname_np(pthread_self(), "dag-scheduler");
        log_set_context(r->sc->app_id, -1, -1);
        while (!r->quitting || !idle(r)) {
                struct message *m = take_messages(r);
                while (m) {
                        struct message *next = m->next;
                        receive(r, m);
                        m = next;
                }
                int64_t now = now_ns();
                if (sched_deadline(r->sched) <= now)
                        sched_tick(r->sched, now);
                if (!r->stopping)
                        sched_revive(r->sched, now);
        }
        return NULL;
}

/* ------------------------------------------------------------------------------------------- life and use */

static void slot_done(void *owner, struct slot_run *run)
{
        post(owner, (struct message){.kind = MESSAGE_RUN_DONE, .run = run});
}

static int read_config(struct fst_context *sc, struct sched_config *config, struct pool_file *pools,
                       struct fst_error *error)
{
        int64_t cpus, attempts;
        _cleanup_free_ char *mode = NULL, *file = NULL;
        int e;
        if ((e = conf_get_string(sc->conf, "spark.scheduler.mode", &mode, error)) ||
            (e = conf_get_string(sc->conf, "spark.scheduler.allocation.file", &file, error)) ||
            (e = conf_get_int(sc->conf, "spark.task.cpus", &cpus, error)) ||
            (e = conf_get_int(sc->conf, "spark.stage.maxConsecutiveAttempts", &attempts, error)))
                return e;
        *config = SCHED_CONFIG_DEFAULT;
        config->max_failures = sc->master.max_failures;
        config->task_cpus = (int)cpus;
        config->max_stage_attempts = (int)attempts;
        if (cpus < 1 || cpus > sc->master.threads)
                return error_set(
                        error, -EINVAL,
                        "spark.task.cpus is %lld, but the master has %d cores: no task could ever run; make it "
                        "at most that, or ask for more cores (local[N])",
                        (long long)cpus, sc->master.threads);
        if (mode && strcasecmp(mode, "FAIR") == 0)
                config->mode = SCHEDULING_FAIR;
        else if (mode && strcasecmp(mode, "FIFO") != 0)
                return error_set(error, -EINVAL, "Unrecognized spark.scheduler.mode: %s (use FIFO or FAIR)", mode);
        if (config->mode == SCHEDULING_FIFO)
                return 0;
        if ((e = pools_read(file, pools, error)))
                return e;
        config->pools = pools->pools;
        config->n_pools = pools->n_pools;
        return 0;
}

int job_runner_new(struct fst_context *sc, struct job_runner **runner, struct fst_error *error)
{
        struct job_runner *r = new0(struct job_runner);
        struct sched_config config;
        struct pool_file pools = POOL_FILE_INIT;
        r->sc = sc;
        r->last = &r->first;
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_mutex_init(&r->lock, NULL);
        pthread_cond_init(&r->wake, &monotonic);
        pthread_condattr_destroy(&monotonic);

        int e = read_config(sc, &config, &pools, error);
        if (e) {
                job_runner_free(r);
                return e;
        }
        r->sched = sched_new(&config, &ops, r);
        pool_file_deinit(&pools);
        r->events = task_events_new(sc);
        r->n_slots = sc->master.threads;
        r->slots = new_array(struct slot *, (size_t)r->n_slots);
        r->running = new_array(struct slot_run *, (size_t)r->n_slots);
        r->executor = sched_add_executor(r->sched, "driver", sc->host, r->n_slots, now_ns());
        for (int s = 0; s < r->n_slots && e == 0; s++)
                e = slot_new(s, &sc->env, slot_done, r, &r->slots[s], error);
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
        for (int s = 0; s < r->n_slots; s++)
                slot_free(r->slots[s]);
        if (r->sched)
                sched_free(r->sched);
        task_events_free(r->events);
        while (r->spare) {
                struct slot_run *next = r->spare->next;
                free(r->spare);
                r->spare = next;
        }
        free(r->slots);
        free(r->running);
        pthread_mutex_destroy(&r->lock);
        pthread_cond_destroy(&r->wake);
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
        if (wait.result == JOB_SUCCEEDED)
                return 0;
        int status = wait.status ? wait.status : wait.result == JOB_CANCELLED ? -ECANCELED : -EIO;
        error_set(error, status, "%s", wait.message ? wait.message : strerror(-status));
        free(wait.message);
        return status;
}

void job_runner_cancel(struct job_runner *r, const char *group)
{
        post(r, (struct message){.kind = MESSAGE_CANCEL, .group = group ? mem_strdup(group) : NULL});
}
