/*
 * Running tasks; see slot.h.
 *
 * Clocks: each task reads the monotonic clock when it begins and ends. The thread's CPU clock is a system call, so
 * it is read once for a run and shared among its tasks by their run time.
 */
#include "exec/slot.h"

#include "base/log.h"
#include "base/mem.h"
#include "exec/crash.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/shuffle_writer.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct slot {
        int index;
        const struct exec_env *env;
        slot_done_fn done;
        void *owner;

        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        struct slot_run *given; /* under lock */
        bool stopping;          /* under lock */

        /* the thread's own */
        struct task_run run;
        struct stage_work *work; /* of the pipeline that is kept */
        struct pipeline *pipeline;
};

static int64_t clock_ns(clockid_t clock)
{
        struct timespec t;
        clock_gettime(clock, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------- one task */

static void drop_pipeline(struct slot *s)
{
        pipeline_free(s->pipeline);
        s->pipeline = NULL;
        stage_work_unref(steal(s->work));
}

static void keep_pipeline(struct slot *s, struct stage_work *work)
{
        if (s->work == work)
                return;
        drop_pipeline(s);
        struct op *sink = work->shuffled ? shuffle_writer_new(&s->run, work->shuffled, s->env->shuffles)
                                         : work->action->sink_new(work->action, &s->run);
        struct pipeline_env env = {
                .run = &s->run,
                .shuffle = &shuffle_reader_source,
                .shuffle_owner = &work->inputs,
                .blocks = s->env->blocks,
                .sample_budget = work->action ? work->action->sample_budget : 0,
        };
        s->work = stage_work_ref(work);
        s->pipeline = pipeline_new(&env, work->final, sink);
}

static int compute(struct slot *s, struct stage_work *work, struct slot_task *t)
{
        struct task_run *run = &s->run;
        int r = pipeline_run(s->pipeline, t->info.partition);
        if (r == 0 && run->status)
                r = run->status;
        if (r)
                return r;
        struct op *sink = pipeline_sink(s->pipeline);
        if (work->shuffled) {
                t->shuffle_output = shuffle_writer_take(sink);
                return 0;
        }
        return work->action->result(work->action, sink, &t->result);
}

static void note_failure(struct slot *s, struct stage_work *work, struct slot_task *t, int r)
{
        struct task_run *run = &s->run;
        t->status = r;
        t->message = run->error.message ? steal(run->error.message) : mem_printf("task failed: %s", strerror(-r));
        if (task_run_stopped(run)) {
                t->state = OUTCOME_KILLED;
        } else if (run->fetch_failed) {
                t->state = OUTCOME_FETCH_FAILED;
                t->fetch_shuffle = run->fetch_shuffle;
                t->fetch_map = run->fetch_map;
        } else {
                t->state = r == FST_COMMIT_DENIED ? OUTCOME_COMMIT_DENIED : OUTCOME_FAILED;
        }
        if (work->action && work->action->failed)
                work->action->failed(work->action, run);
}

static void run_task(struct slot *s, struct stage_work *work, struct slot_task *t, int64_t begin)
{
        struct task_run *run = &s->run;
        if (__atomic_load_n(&t->killed, __ATOMIC_RELAXED)) {
                t->state = OUTCOME_KILLED;
                t->message = mem_strdup("killed before it ran");
                return;
        }
        /* The flag is the task's own: one for the slot could still be set when the next task runs. */
        run->task.stopped = &t->killed;
        task_run_begin(run, &t->info, s->env->seed);
        crash_set_task(&run->task.info);
        log_set_context(s->env->app_id, t->info.stage, t->info.id);
        int r = compute(s, work, t);
        task_run_end(run);
        crash_set_task(NULL);
        if (r)
                note_failure(s, work, t, r);
        else
                t->state = OUTCOME_SUCCESS;
        run->task.stopped = &run->stop;
        t->counters = run->counters;
        t->run_ns = clock_ns(CLOCK_MONOTONIC) - begin;
}

static void run_all(struct slot *s, struct slot_run *r)
{
        int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin = clock_ns(CLOCK_MONOTONIC);
        int64_t ms_offset = clock_ns(CLOCK_REALTIME) - begin, total = 0;
        keep_pipeline(s, r->work);
        for (int i = 0; i < r->n; i++) {
                struct slot_task *t = &r->tasks[i];
                t->start_ms = (begin + ms_offset) / 1000000;
                run_task(s, r->work, t, begin);
                begin += t->run_ns;
                total += t->run_ns;
                t->finish_ms = (begin + ms_offset) / 1000000;
        }
        cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        for (int i = 0; i < r->n; i++)
                r->tasks[i].counters.cpu_ns =
                        total ? (int64_t)((double)cpu * (double)r->tasks[i].run_ns / (double)total) : 0;
}

/* ----------------------------------------------------------------------------------------------- the thread */

static _Thread_local bool on_slot;

bool slot_is_this_thread(void)
{
        return on_slot;
}

static void *slot_main(void *arg)
{
        struct slot *s = arg;
        char name[16];
        on_slot = true;
        snprintf(name, sizeof(name), "task-slot-%d", s->index);
        pthread_setname_np(pthread_self(), name);
        crash_thread_init();
        crash_watch(&s->run.function);
        for (;;) {
                pthread_mutex_lock(&s->lock);
                while (!s->given && !s->stopping)
                        pthread_cond_wait(&s->wake, &s->lock);
                struct slot_run *run = steal(s->given);
                bool stopping = s->stopping;
                pthread_mutex_unlock(&s->lock);
                if (run) {
                        if (stopping)
                                for (int i = 0; i < run->n; i++)
                                        __atomic_store_n(&run->tasks[i].killed, 1, __ATOMIC_RELAXED);
                        run_all(s, run);
                        s->done(s->owner, run);
                } else {
                        break;
                }
        }
        drop_pipeline(s);
        crash_watch(NULL);
        crash_thread_deinit();
        return NULL;
}

int slot_new(int index, const struct exec_env *env, slot_done_fn done, void *owner, struct slot **slot,
             struct fst_error *error)
{
        struct slot *s = new0(struct slot);
        s->index = index;
        s->env = env;
        s->done = done;
        s->owner = owner;
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->wake, NULL);
        task_run_init(&s->run, env->memory, &env->shuffles->space);
        int r = pthread_create(&s->thread, NULL, slot_main, s);
        if (r) {
                task_run_deinit(&s->run);
                pthread_mutex_destroy(&s->lock);
                pthread_cond_destroy(&s->wake);
                free(s);
                return error_set(error, -r, "cannot start the thread of task slot %d: %s", index, strerror(r));
        }
        *slot = s;
        return 0;
}

void slot_give(struct slot *s, struct slot_run *run)
{
        pthread_mutex_lock(&s->lock);
        s->given = run;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
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
        task_run_deinit(&s->run);
        pthread_mutex_destroy(&s->lock);
        pthread_cond_destroy(&s->wake);
        free(s);
}
