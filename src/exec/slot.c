/*
 * See slot.h. The slot's thread runs a task with exec/task/task_runner.h, or waits for a task process to run it
 * (exec/isolation/process_slot.h).
 *
 * Invariant: `running` is the thread's batch, so that other threads find its tasks. It is set and cleared under the
 * lock.
 */
#include "exec/slot.h"

#include "base/clock.h"
#include "base/mem.h"
#include "exec/guard/crash.h"
#include "exec/isolation/isolation.h"
#include "exec/task/task_runner.h"
#include "numa/numa_nodes.h"
#include "exec/isolation/process_slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIPELINE_STAYS (NS_PER_SECOND / 2) /* without tasks */

struct slot {
        int index;
        const struct exec_env *env;
        slot_done_fn done;
        void *owner;
        bool process;                 /* uses task processes */
        struct process_slot *workers; /* NULL: none */

        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        struct task_batch *given;   /* under lock */
        struct task_batch *running; /* under lock */
        bool stopping;              /* under lock */
        bool isolated;              /* a task process runs the batch; under lock */
        int64_t failing_task;       /* id of a task whose end counts as a failure, under lock; -1: none */
        char *failure_message;      /* its message */
        int tid;

        struct task_runner runner; /* the thread's own */
};

/* ----------------------------------------------------------------------------------------------- the thread */

/* If the task named by slot_fail ended as killed, makes its outcome a failure. */
static void apply_pending_failure(struct slot *s, struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->info.id != s->failing_task || t->state != TASK_KILLED)
                        continue;
                t->state = TASK_FAILED;
                t->status = -ENOMEM;
                free(t->message);
                t->message = steal(s->failure_message);
        }
        s->failing_task = -1;
        free(steal(s->failure_message));
}

static void run_batch(struct slot *s, struct task_batch *run)
{
        if (s->isolated)
                process_slot_run(s->workers, run);
        else
                task_runner_run(&s->runner, run->work, &run->resources, run->tasks, run->n, NULL);
        pthread_mutex_lock(&s->lock);
        s->running = NULL;
        apply_pending_failure(s, run);
        pthread_mutex_unlock(&s->lock);
        s->done(s->owner, run);
}

/* Waits for a batch. Frees the pipeline when none comes: other slots may need the memory of its tables, which is not
 * reserved, and the storage that it holds. Lock held. */
static void slot_wait(struct slot *s)
{
        const int64_t until = s->runner.work ? now_ns() + PIPELINE_STAYS : 0;
        const struct timespec deadline = timespec_of_ns(until);
        while (!s->given && !s->stopping) {
                if (!s->runner.work) {
                        pthread_cond_wait(&s->wake, &s->lock);
                } else if (pthread_cond_timedwait(&s->wake, &s->lock, &deadline) == ETIMEDOUT && !s->given) {
                        pthread_mutex_unlock(&s->lock);
                        task_runner_drop(&s->runner);
                        pthread_mutex_lock(&s->lock);
                }
        }
}

/* Waits for the next batch. Its tasks are killed if the slot is stopping. NULL: there will be none. */
static struct task_batch *take_batch(struct slot *s)
{
        pthread_mutex_lock(&s->lock);
        if (!s->given && !s->stopping)
                slot_wait(s);
        struct task_batch *run = steal(s->given);
        if (run && s->stopping)
                for (int i = 0; i < run->n; i++)
                        __atomic_store_n(&run->tasks[i].killed, 1, __ATOMIC_RELAXED);
        s->running = run;
        s->isolated =
                run && s->workers && (s->process || (run->crash_suspect && !isolation_is_gone(s->env->isolation)));
        pthread_mutex_unlock(&s->lock);
        return run;
}

static void *slot_main(void *arg)
{
        struct slot *s = arg;
        char name[16];
        snprintf(name, sizeof(name), "task-slot-%d", s->index);
        pthread_setname_np(pthread_self(), name);
        __atomic_store_n(&s->tid, (int)syscall(SYS_gettid), __ATOMIC_RELAXED);
        if (s->env->numa)
                numa_bind_thread(s->env->numa, s->index);
        crash_thread_init();
        crash_watch(&s->runner.run.function);
        if (s->process)
                process_slot_prepare(s->workers);
        for (struct task_batch *run; (run = take_batch(s));)
                run_batch(s, run);
        task_runner_drop(&s->runner);
        crash_watch(NULL);
        crash_thread_deinit();
        return NULL;
}

/* ---------------------------------------------------------------------------------------------- interface */

static void slot_deinit(struct slot *s)
{
        task_runner_deinit(&s->runner);
        process_slot_free(s->workers);
        free(s->failure_message);
        pthread_mutex_destroy(&s->lock);
        pthread_cond_destroy(&s->wake);
        free(s);
}

int slot_new(int index, const struct exec_env *env, slot_done_fn done, void *owner, struct slot **slot,
             struct fst_error *error)
{
        struct slot *s = new0(struct slot);
        cond_init_monotonic(&s->wake);
        s->index = index;
        s->env = env;
        s->done = done;
        s->owner = owner;
        s->failing_task = -1;
        pthread_mutex_init(&s->lock, NULL);
        task_runner_init(&s->runner, env);
        if (env->isolation) {
                s->workers = process_slot_new(index, env, env->isolation);
                s->process = env->isolation->all;
        }
        int r = pthread_create(&s->thread, NULL, slot_main, s);
        if (r) {
                slot_deinit(s);
                return error_set(error, -r, "cannot start the thread of task slot %d: %s", index, strerror(r));
        }
        *slot = s;
        return 0;
}

void slot_submit(struct slot *s, struct task_batch *run)
{
        pthread_mutex_lock(&s->lock);
        s->given = run;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
}

/* Returns the task if it is here. Lock held. */
static struct slot_task *find_slot_task(struct slot *s, int64_t task_id)
{
        struct task_batch *run = s->running ? s->running : s->given;
        for (int i = 0; run && i < run->n; i++)
                if (run->tasks[i].info.id == task_id)
                        return &run->tasks[i];
        return NULL;
}

static void kill_slot_task(struct slot *s, int64_t task_id, bool interrupt, const char *failure)
{
        pthread_mutex_lock(&s->lock);
        struct slot_task *t = find_slot_task(s, task_id);
        if (t && failure && s->failing_task < 0) {
                s->failing_task = task_id;
                s->failure_message = mem_strdup(failure);
        }
        if (t)
                __atomic_store_n(&t->killed, 1, __ATOMIC_RELAXED);
        bool isolated = t && s->running && s->isolated;
        pthread_mutex_unlock(&s->lock);
        if (isolated)
                process_slot_kill(s->workers, task_id, interrupt);
}

void slot_kill(struct slot *s, int64_t task_id, bool interrupt)
{
        kill_slot_task(s, task_id, interrupt, NULL);
}

void slot_fail(struct slot *s, int64_t task_id, const char *message)
{
        kill_slot_task(s, task_id, true, message);
}

bool slot_is_isolated(struct slot *s)
{
        pthread_mutex_lock(&s->lock);
        bool isolated = s->running && s->isolated;
        pthread_mutex_unlock(&s->lock);
        return isolated;
}

void slot_activity(struct slot *s, struct slot_activity *a)
{
        *a = (struct slot_activity){.task_id = -1, .thread = __atomic_load_n(&s->tid, __ATOMIC_RELAXED)};
        pthread_mutex_lock(&s->lock);
        if (s->running && s->isolated) {
                process_slot_activity(s->workers, a);
        } else if (s->running) {
                a->task_id = __atomic_load_n(&s->runner.current, __ATOMIC_RELAXED);
                const char *function = __atomic_load_n(&s->runner.run.function, __ATOMIC_RELAXED);
                snprintf(a->function, sizeof(a->function), "%s", function ? function : "");
                a->memory = (int64_t)__atomic_load_n(&s->runner.run.held, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&s->lock);
}

bool slot_progress(struct slot *s, struct slot_progress *p)
{
        bool known = false;
        pthread_mutex_lock(&s->lock);
        if (s->running && s->isolated)
                known = process_slot_progress(s->workers, p);
        else if (s->running)
                known = task_runner_progress(&s->runner, p);
        pthread_mutex_unlock(&s->lock);
        return known;
}

void slot_free(struct slot *s)
{
        if (!s)
                return;
        pthread_mutex_lock(&s->lock);
        s->stopping = true;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        slot_deinit(s);
}
