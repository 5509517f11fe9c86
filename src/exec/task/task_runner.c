/*
 * See task_runner.h.
 *
 * Clocks: each task reads the monotonic clock at its start and end. The thread's CPU clock needs a system call, so it
 * is read once for a batch and divided among the tasks by run time.
 */
#include "exec/task/task_runner.h"

#include "base/log.h"
#include "base/mem.h"
#include "exec/guard/crash.h"
#include "rdd/pipeline/task_listeners.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/shuffle_writer.h"

#include <time.h>

static int64_t clock_ns(clockid_t clock)
{
        struct timespec t;
        clock_gettime(clock, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void task_runner_drop(struct task_runner *runner)
{
        pipeline_free(runner->pipeline);
        runner->pipeline = NULL;
        stage_context_unref(steal(runner->work));
}

static void ensure_pipeline(struct task_runner *runner, struct stage_context *work)
{
        if (runner->work == work)
                return;
        task_runner_drop(runner);
        struct op *sink = work->shuffled ? shuffle_writer_new(&runner->run, work->shuffled, runner->env->shuffles)
                                         : work->action->class->sink_new(work->action, &runner->run, runner->env);
        if (work->shuffled && work->output_place)
                shuffle_writer_stream_to(sink, runner->env->remote_outputs, work->output_place);
        else if (work->shuffled && !runner->env->remote)
                shuffle_writer_stay_local(sink);
        struct pipeline_env env = {
                .run = &runner->run,
                .shuffle = runner->shuffle,
                .shuffle_owner = &work->inputs,
                .slices = runner->env->slices,
                .slice_owner = runner->env->slice_owner,
                .blocks = runner->blocks,
                .remote = runner->env->remote,
                .ignore_corrupt_files = runner->env->ignore_corrupt_files,
                .ignore_missing_files = runner->env->ignore_missing_files,
                .sample_budget = work->action ? work->action->sample_budget : 0,
        };
        runner->work = stage_context_ref(work);
        runner->pipeline = pipeline_new(&env, work->final, sink);
}

static int compute_partition(struct task_runner *runner, struct stage_context *work, struct slot_task *t)
{
        struct task_run *run = &runner->run;
        int r = pipeline_run(runner->pipeline, t->info.partition);
        if (r == 0 && run->status)
                r = run->status;
        if (r)
                return r;
        struct op *sink = pipeline_sink(runner->pipeline);
        if (work->shuffled) {
                t->shuffle_output = shuffle_writer_take(sink);
                return 0;
        }
        return work->action->class->result(work->action, sink, &t->result);
}

/* Discards the result of a task that failed afterwards. */
static void discard_result(struct stage_context *work, struct slot_task *t)
{
        if (work->shuffled)
                shuffle_output_unref(steal(t->shuffle_output));
        else if (work->action->class->discard)
                work->action->class->discard(work->action, &t->result);
        t->result = (struct task_result){0};
}

static void record_failure(struct task_runner *runner, struct stage_context *work, struct slot_task *t, int r)
{
        struct task_run *run = &runner->run;
        t->status = r;
        t->message = run->error.message ? steal(run->error.message) : mem_printf("task failed: %s", strerror(-r));
        if (task_run_stopped(run)) {
                t->state = TASK_KILLED;
        } else if (run->fetch_failed) {
                t->state = TASK_FETCH_FAILED;
                t->fetch_shuffle = run->fetch_shuffle;
                t->fetch_map = run->fetch_map;
                t->fetch_executor = run->fetch_executor;
        } else {
                t->state = r == FST_COMMIT_DENIED ? TASK_COMMIT_DENIED : TASK_FAILED;
        }
        if (work->action && work->action->class->failed)
                work->action->class->failed(work->action, run);
}

static void run_task(struct task_runner *runner, struct stage_context *work, struct slot_task *t, const int *stopped,
                     int64_t begin)
{
        struct task_run *run = &runner->run;
        if (__atomic_load_n(stopped, __ATOMIC_RELAXED)) {
                t->state = TASK_KILLED;
                t->message = mem_strdup("killed before it ran");
                return;
        }
        /* Each task has its own flag: one flag for the slot could still be set when the next task runs. */
        run->task.stopped = stopped;
        task_run_begin(run, &t->info, runner->env->seed);
        run->partitions = work->final->lineage.partitions;
        run->barrier = work->barrier;
        run->cpus = work->task_cpus > 0 ? work->task_cpus : runner->env->task_cpus;
        crash_set_task(&run->task.info);
        __atomic_store_n(&runner->began_ns, begin, __ATOMIC_RELAXED);
        __atomic_store_n(&runner->current, t->info.id, __ATOMIC_RELEASE);
        log_set_context(runner->env->app_id, t->info.stage, t->info.id);
        task_run_set_current(run);
        int computed = compute_partition(runner, work, t);
        int r = task_run_call_listeners(run, computed);
        task_run_set_current(NULL);
        if (r && computed == 0)
                discard_result(work, t);
        if (r == 0)
                t->accumulated = task_run_take_accumulated(run);
        task_run_end(run);
        __atomic_store_n(&runner->current, -1, __ATOMIC_RELAXED);
        crash_set_task(NULL);
        if (r)
                record_failure(runner, work, t, r);
        else
                t->state = TASK_SUCCEEDED;
        run->task.stopped = &run->stop;
        t->counters = run->counters;
        t->run_ns = clock_ns(CLOCK_MONOTONIC) - begin;
}

void task_runner_run(struct task_runner *runner, struct stage_context *work, const struct task_resources *resources,
                     struct slot_task *tasks, int n, const int *stopped)
{
        int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin = clock_ns(CLOCK_MONOTONIC);
        int64_t ms_offset = clock_ns(CLOCK_REALTIME) - begin, total = 0;
        ensure_pipeline(runner, work);
        runner->run.resources = resources;
        runner->run.properties = &work->properties;
        for (int i = 0; i < n; i++) {
                struct slot_task *t = &tasks[i];
                t->start_ms = (begin + ms_offset) / 1000000;
                run_task(runner, work, t, stopped ? &stopped[i] : &t->killed, begin);
                begin += t->run_ns;
                total += t->run_ns;
                t->finish_ms = (begin + ms_offset) / 1000000;
        }
        cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        for (int i = 0; i < n; i++)
                tasks[i].counters.cpu_ns = total ? (int64_t)((double)cpu * (double)tasks[i].run_ns / (double)total) : 0;
}

bool task_runner_progress(const struct task_runner *runner, struct slot_progress *p)
{
        p->task_id = __atomic_load_n(&runner->current, __ATOMIC_ACQUIRE);
        p->records = __atomic_load_n(&runner->run.records_read, __ATOMIC_ACQUIRE);
        p->run_ns = clock_ns(CLOCK_MONOTONIC) - __atomic_load_n(&runner->began_ns, __ATOMIC_ACQUIRE);
        /* Another task may have begun since. */
        return p->task_id >= 0 && __atomic_load_n(&runner->current, __ATOMIC_RELAXED) == p->task_id;
}

void task_runner_init(struct task_runner *runner, const struct exec_env *env)
{
        *runner = (struct task_runner){
                .env = env, .shuffle = &shuffle_reader_source, .blocks = env->blocks, .current = -1};
        task_run_init(&runner->run, env->memory, &env->shuffles->space);
        runner->run.services = env->services;
}

void task_runner_deinit(struct task_runner *runner)
{
        task_runner_drop(runner);
        task_run_deinit(&runner->run);
}
