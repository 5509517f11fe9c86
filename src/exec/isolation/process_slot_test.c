/*
 * Tests slots with task processes: functions crash, exit, loop, leak or corrupt memory. Each costs one attempt with a
 * message that names it, and harms no other task.
 *
 * The zygote is forked before cmocka starts. Lineage is made afterwards and is encoded as between machines.
 */
#include "exec/isolation/process_slot.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "exec/isolation/isolation.h"
#include "exec/task/slot_monitor.h"
#include "exec/task/stage_wire.h"
#include "exec/isolation/task_process.h"
#include "exec/isolation/zygote.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rdd/rdd.h"
#include "rdd/rdd_registry.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/stage_outputs.h"
#include "store/spill.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static const bool with_sanitizer =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
        true;
#else
        false;
#endif
#else
        false;
#endif

static const struct task_process_class task_process_class = {.decode = stage_decode,
                                                             .encode_result = task_result_encode};
static struct zygote *zygote;

/* ----------------------------------------------------------------------------------------------- the executor */

struct slot_world {
        struct rdd_registry registry; /* first: lineage takes it for the context */
        struct fst_conf conf;
        struct exec_env env;
        struct slot *slot;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct task_batch *done;
};

static int encode(const struct stage_context *work, struct buf *out, struct fst_error *error)
{
        struct stage_modules_source modules = {.same_program = true};
        return stage_encode(work, &modules, out, error);
}

static void run_done(void *owner, struct task_batch *run)
{
        struct slot_world *w = owner;
        pthread_mutex_lock(&w->lock);
        w->done = run;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
}

static int setup_kind(void **state, const char *kind)
{
        struct slot_world *w = new0(struct slot_world);
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&w->conf);
        conf_set(&w->conf, "spark.firesteel.task.isolation", kind);
        conf_set(&w->conf, "spark.local.dir", "/tmp");
        conf_set(&w->conf, "spark.log.level", "OFF");
        conf_set(&w->conf, "spark.executor.memory", "256m");
        conf_set(&w->conf, "spark.executor.memoryOverhead", "128m");
        rdd_registry_init(&w->registry, &w->conf);
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
        assert_int_equal(exec_env_init(&w->env, &w->conf, 256 << 20, &error), 0);
        w->env.app_id = "app";
        assert_int_equal(isolation_new(&w->conf, zygote, 1, 256 << 20, 1, &w->env.isolation, &error), 0);
        w->env.isolation->encode = encode;
        assert_int_equal(slot_new(0, &w->env, run_done, w, &w->slot, &error), 0);
        *state = w;
        return 0;
}

static int setup(void **state)
{
        return setup_kind(state, "process");
}

static int setup_threads(void **state)
{
        return setup_kind(state, "none");
}

static int teardown(void **state)
{
        struct slot_world *w = *state;
        slot_free(w->slot);
        w->env.isolation->zygote = NULL; /* the next test uses it */
        isolation_free(w->env.isolation);
        rdd_registry_deinit(&w->registry);
        exec_env_deinit(&w->env);
        conf_deinit(&w->conf);
        free(w);
        return 0;
}

static fst_rdd *numbers(struct slot_world *w, int partitions)
{
        return fst_range_n((fst_context *)w, 0, 100 * partitions, partitions);
}

/* Returns a stage that computes @rdd and counts its rows, or writes it for @shuffled. */
static struct stage_context *stage_of(struct slot_world *w, fst_rdd *rdd, fst_rdd *shuffled)
{
        struct stage_context *work = new0(struct stage_context);
        assert_int_equal(rdd_plan(rdd), 0);
        work->refs = 1;
        work->env = &w->env;
        work->stage_id = 3;
        work->final = rdd;
        work->shuffled = shuffled;
        if (!shuffled) {
                static struct action count;
                count = (struct action){.class = &count_action_class, .type = rdd->type};
                work->action = &count;
        }
        return work;
}

static struct task_batch *run_of(struct stage_context *work, int n)
{
        static int64_t next_id = 100;
        struct task_batch *run = new0(struct task_batch);
        run->work = work;
        run->n = n;
        for (int i = 0; i < n; i++)
                run->tasks[i] = (struct slot_task){
                        .info = {.id = next_id++, .stage = 3, .partition = i}, .index = i, .output = i};
        return run;
}

static struct task_batch *wait_for(struct slot_world *w)
{
        pthread_mutex_lock(&w->lock);
        while (!w->done)
                pthread_cond_wait(&w->changed, &w->lock);
        struct task_batch *run = steal(w->done);
        pthread_mutex_unlock(&w->lock);
        return run;
}

static struct task_batch *run_all(struct slot_world *w, fst_rdd *rdd, int n)
{
        slot_submit(w->slot, run_of(stage_of(w, rdd, NULL), n));
        return wait_for(w);
}

static void run_free(struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                free(run->tasks[i].message);
                buf_deinit(&run->tasks[i].encoded);
                shuffle_output_unref(run->tasks[i].shuffle_output);
                accumulator_updates_free(run->tasks[i].accumulated);
        }
        stage_context_unref(run->work);
        free(run);
}

static int64_t counted(struct task_batch *run, int i)
{
        struct task_result result = {0};
        struct slot_task *t = &run->tasks[i];
        if (t->state != TASK_SUCCEEDED)
                fail_msg("task %d: state %d: %s", i, t->state, t->message ? t->message : "");
        if (t->is_encoded)
                assert_int_equal(task_result_decode(run->work->action, t->encoded.data, t->encoded.len, &result, NULL),
                                 0);
        return t->is_encoded ? result.number : t->result.number;
}

static void assert_says(const struct slot_task *t, const char *part)
{
        assert_int_equal(t->state, TASK_FAILED);
        if (!t->message || !strstr(t->message, part))
                fail_msg("\"%s\" is not in \"%s\"", part, t->message ? t->message : "(none)");
}

/* ------------------------------------------------------------------------------------------------- functions */

static volatile int endless = 1;
static int *volatile nowhere;
static void *volatile kept;

static int64_t next(fst_task *task, int64_t x)
{
        return x + 1;
}

/* UBSan would end it before the access does. */
static __attribute__((no_sanitize_undefined)) int64_t touch_null(fst_task *task, int64_t x)
{
        if (x == 350)
                *nowhere = 1;
        return x;
}

static int64_t call_abort(fst_task *task, int64_t x)
{
        abort();
}

static int64_t call_exit(fst_task *task, int64_t x)
{
        exit(0);
}

static int64_t call_quick_exit(fst_task *task, int64_t x)
{
        _exit(7);
}

static __attribute__((noinline)) int recurse(volatile char *above)
{
        volatile char here[4096];
        here[0] = above ? above[0] : 0;
        return endless ? recurse(here) + here[0] : 0;
}

static int64_t fill_stack(fst_task *task, int64_t x)
{
        return recurse(NULL);
}

static int64_t loop(fst_task *task, int64_t x)
{
        while (endless)
                ;
        return x;
}

/* Ends when it is killed. */
static int64_t wait_until_killed(fst_task *task, int64_t x)
{
        while (!fst_task_interrupted(task))
                usleep(1000);
        return x;
}

/* This task process may have 384 MiB. */
static int64_t leak(fst_task *task, int64_t x)
{
        for (int i = 0; i < 1024; i++) {
                void *p = malloc(1 << 20);
                if (!p) {
                        fst_fail(task, "malloc answered NULL after %d MiB", i);
                        return 0;
                }
                memset(p, 1, 1 << 20);
                kept = p;
        }
        return x;
}

/* Overwrites all heap and data of the task process. Other processes are not affected. */
static int64_t write_wildly(fst_task *task, int64_t x)
{
        char *p = malloc(64);
        memset(p - 4096, 0xff, 1 << 16);
        for (int i = 0; i < 1000; i++)
                free(malloc(100));
        *nowhere = 1;
        return x;
}

static int64_t close_everything(fst_task *task, int64_t x)
{
        for (int fd = 0; fd < 64; fd++)
                close(fd);
        return x;
}

static int64_t die(fst_task *task, int64_t x)
{
        kill(getpid(), SIGKILL);
        return x;
}

static int to_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x);
        return 0;
}

/* -------------------------------------------------------------------------------------------------- tests */

static void counts_in_a_task_process(void **state)
{
        struct slot_world *w = *state;
        struct task_batch *run = run_all(w, fst_map(numbers(w, 8), next, FST_I64), 8);
        for (int i = 0; i < 8; i++) {
                assert_int_equal(counted(run, i), 100);
                assert_true(run->tasks[i].is_encoded);
                assert_true(run->tasks[i].run_ns > 0);
                assert_true(run->tasks[i].start_ms > 0);
        }
        run_free(run);
        run = run_all(w, numbers(w, 256), 256); /* another stage, with a full batch */
        for (int i = 0; i < 256; i++)
                assert_int_equal(counted(run, i), 100);
        run_free(run);
}

/* One bad row fails its task. The tasks before and after it succeed, and the next batch works. */
static void segfault_costs_one_task(void **state)
{
        struct slot_world *w = *state;
        struct task_batch *run = run_all(w, fst_map(numbers(w, 8), touch_null, FST_I64), 8);
        for (int i = 0; i < 8; i++) {
                if (i == 3)
                        assert_says(&run->tasks[i], "crashed in ");
                else
                        assert_int_equal(counted(run, i), 100);
        }
        char id[64];
        snprintf(id, sizeof(id), "task %lld in stage 3.0 (partition 3, attempt 0) crashed in",
                 (long long)run->tasks[3].info.id);
        assert_says(&run->tasks[3], id);
        assert_says(&run->tasks[3], "SIGSEGV, invalid memory access at address 0x0");
        assert_says(&run->tasks[3], "touch_null");
        run_free(run);
        run = run_all(w, numbers(w, 1), 1);
        assert_int_equal(counted(run, 0), 100);
        run_free(run);
}

static void fails_saying(struct slot_world *w, fst_rdd *rdd, const char *part)
{
        struct task_batch *run = run_all(w, rdd, 1);
        assert_says(&run->tasks[0], part);
        run_free(run);
        run = run_all(w, numbers(w, 1), 1);
        assert_int_equal(counted(run, 0), 100);
        run_free(run);
}

static void reports_crashes_and_exits(void **state)
{
        struct slot_world *w = *state;
        fst_rdd *one = numbers(w, 1);
        fails_saying(w, fst_map(one, call_abort, FST_I64), "SIGABRT, abort() was called");
        fails_saying(w, fst_map(one, call_exit, FST_I64), "it called exit(0)");
        fails_saying(w, fst_map(one, call_quick_exit, FST_I64), "exited with status 7");
        fails_saying(w, fst_map(one, die, FST_I64), "was killed (SIGKILL)");
        fails_saying(w, fst_map(one, close_everything, FST_I64), "its task process");
        fails_saying(w, fst_map(one, fill_stack, FST_I64), "the stack is full");
}

static void leaks_fail_alone(void **state)
{
        struct slot_world *w = *state;
        if (with_sanitizer)
                skip(); /* the sanitizer's allocator ends the process instead */
        fails_saying(w, fst_map(numbers(w, 1), leak, FST_I64), "malloc answered NULL after 3");
}

static void wild_writes_harm_no_other_task(void **state)
{
        struct slot_world *w = *state;
        char *own = mem_alloc(1 << 16);
        memset(own, 7, 1 << 16);
        fails_saying(w, fst_map(numbers(w, 1), write_wildly, FST_I64), "");
        for (int i = 0; i < 1 << 16; i++)
                assert_int_equal(own[i], 7);
        free(own);
}

static int64_t ms_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until the slot runs @task_id. */
static void wait_until_running(struct slot_world *w, int64_t task_id)
{
        struct slot_activity a = {.task_id = -1};
        for (int i = 0; i < 60000; i++) {
                slot_activity(w->slot, &a);
                if (a.task_id == task_id && a.function[0])
                        return;
                usleep(1000);
        }
        fail_msg("the slot is at %lld in \"%s\", not at %lld", (long long)a.task_id, a.function, (long long)task_id);
}

static void kills_an_endless_loop(void **state)
{
        struct slot_world *w = *state;
        struct task_batch *run = run_of(stage_of(w, fst_map(numbers(w, 2), loop, FST_I64), NULL), 2);
        int64_t id = run->tasks[0].info.id, start;
        slot_submit(w->slot, run);
        wait_until_running(w, id);
        assert_true(slot_is_isolated(w->slot));
        slot_kill(w->slot, run->tasks[1].info.id, false); /* before it runs */
        slot_kill(w->slot, id, true);
        start = ms_now();
        run = wait_for(w);
        assert_true(ms_now() - start < 2000);
        assert_int_equal(run->tasks[0].state, TASK_KILLED);
        assert_int_equal(run->tasks[1].state, TASK_KILLED);
        run_free(run);
        run = run_all(w, numbers(w, 1), 1);
        assert_int_equal(counted(run, 0), 100);
        run_free(run);
}

/* Any process uses more than one MiB: the running task fails, and the message states the reason. */
static void fails_a_task_beyond_the_memory_limit(void **state)
{
        struct slot_world *w = *state;
        struct slot_monitor *watch = NULL;
        struct slot_monitor_options o = {
                .conf = &w->conf, .slots = &w->slot, .n = 1, .env = &w->env, .memory_limit = 1 << 20};
        assert_int_equal(slot_monitor_new(&o, &watch, NULL), 0);
        struct task_batch *run = run_of(stage_of(w, fst_map(numbers(w, 1), wait_until_killed, FST_I64), NULL), 1);
        slot_submit(w->slot, run);
        wait_until_running(w, run->tasks[0].info.id);
        int64_t next = slot_monitor_tick(watch, 0); /* evicts */
        assert_true(next > 0);
        assert_int_equal(slot_monitor_tick(watch, next / 2), next); /* too early */
        slot_monitor_tick(watch, next);
        run = wait_for(w);
        assert_says(&run->tasks[0], "fails because memory is short");
        assert_says(&run->tasks[0], "raise spark.executor.memory");
        run_free(run);
        slot_monitor_free(watch);
}

static void kills_a_cooperative_task_by_its_flag(void **state)
{
        struct slot_world *w = *state;
        struct slot_activity before, after;
        struct task_batch *run = run_of(stage_of(w, fst_map(numbers(w, 1), wait_until_killed, FST_I64), NULL), 1);
        slot_submit(w->slot, run);
        wait_until_running(w, run->tasks[0].info.id);
        slot_activity(w->slot, &before);
        assert_true(before.process_pid > 0);
        assert_true(before.memory > 0);
        slot_kill(w->slot, run->tasks[0].info.id, false);
        run = wait_for(w);
        assert_int_equal(run->tasks[0].state, TASK_KILLED);
        run_free(run);
        run = run_of(stage_of(w, fst_map(numbers(w, 1), wait_until_killed, FST_I64), NULL), 1);
        slot_submit(w->slot, run);
        wait_until_running(w, run->tasks[0].info.id);
        slot_activity(w->slot, &after);
        assert_int_equal(before.process_pid, after.process_pid); /* the same worker */
        slot_fail(w->slot, run->tasks[0].info.id, "used 2 GiB of 1 GiB");
        run = wait_for(w);
        assert_says(&run->tasks[0], "used 2 GiB of 1 GiB");
        run_free(run);
}

static void reports_a_task_process_killed_from_outside(void **state)
{
        struct slot_world *w = *state;
        struct slot_activity a;
        struct task_batch *run = run_of(stage_of(w, fst_map(numbers(w, 1), loop, FST_I64), NULL), 1);
        slot_submit(w->slot, run);
        wait_until_running(w, run->tasks[0].info.id);
        slot_activity(w->slot, &a);
        kill(a.process_pid, SIGKILL);
        run = wait_for(w);
        assert_says(&run->tasks[0], "was killed (SIGKILL)");
        run_free(run);
}

/* Returns the rows of a map output, in the order of the partitions. */
static int64_t rows_of(struct shuffle_output *o)
{
        int64_t rows = 0;
        for (int p = shuffle_output_next(o, 0); p < o->partitions; p = shuffle_output_next(o, p + 1)) {
                for (uint32_t e = shuffle_output_at(o, p)->extents; e; e = o->extents[e - 1].next) {
                        struct fst_error error = FST_ERROR_INIT;
                        struct page *page = NULL;
                        struct codec codec;
                        codec_init(&codec, CODEC_LZ4, 0);
                        if (spill_read_page(o->file, o->extents[e - 1].offset, o->extents[e - 1].length, &codec, NULL,
                                            &page, &error))
                                fail_msg("%s", error_message(&error));
                        rows += page->rows;
                        page_free(NULL, page);
                        codec_deinit(&codec);
                }
        }
        return rows;
}

/* Returns a stage that counts the rows of a shuffle of @run's map outputs. */
static struct stage_context *reading_stage(struct slot_world *w, fst_rdd *shuffled, struct task_batch *run)
{
        struct stage_context *work = stage_of(w, shuffled, NULL);
        int shuffle_id = shuffled->shuffle.id;
        struct shuffle_map *maps = new_array(struct shuffle_map, (size_t)run->n);
        for (int i = 0; i < run->n; i++) {
                int64_t id = run->tasks[i].info.id;
                shuffle_store_put(w->env.shuffles, shuffle_id, i, id, steal(run->tasks[i].shuffle_output));
                maps[i] = (struct shuffle_map){.task_id = id, .location = 0};
        }
        work->inputs = (struct shuffle_reader_env){.inputs = new0(struct shuffle_inputs),
                                                   .n_inputs = 1,
                                                   .locations = new0(struct shuffle_location),
                                                   .n_locations = 1,
                                                   .store = w->env.shuffles,
                                                   .space = &w->env.shuffles->space};
        work->inputs.inputs[0] = (struct shuffle_inputs){.shuffle_id = shuffle_id, .n = run->n, .maps = maps};
        return work;
}

static void reads_shuffles(void **state)
{
        struct slot_world *w = *state;
        fst_rdd *many = fst_map(fst_range_n((fst_context *)w, 0, 400000, 4), to_pair, FST_PAIR(I64, I64));
        fst_rdd *placed = fst_partition_by(many, 3);
        assert_int_equal(rdd_plan(placed), 0);
        slot_submit(w->slot, run_of(stage_of(w, many, placed), 4));
        struct task_batch *maps = wait_for(w);
        for (int i = 0; i < 4; i++)
                if (maps->tasks[i].state != TASK_SUCCEEDED)
                        fail_msg("%s", maps->tasks[i].message);
        struct stage_context *work = reading_stage(w, placed, maps);
        slot_submit(w->slot, run_of(stage_context_ref(work), 3));
        struct task_batch *run = wait_for(w);
        assert_int_equal(counted(run, 0) + counted(run, 1) + counted(run, 2), 400000);
        assert_true(run->tasks[0].counters.shuffle_local_bytes >= counted(run, 0) * 16);
        assert_int_equal(run->tasks[0].counters.shuffle_local_blocks, 4);
        run_free(run);
        /* An output that another attempt of the stage misses is a fetch failure that names it. */
        stage_outputs_end(work->inputs.inputs);
        shuffle_store_remove(w->env.shuffles, placed->shuffle.id, 2, maps->tasks[2].info.id);
        slot_submit(w->slot, run_of(work, 3));
        run = wait_for(w);
        assert_int_equal(run->tasks[1].state, TASK_FETCH_FAILED);
        assert_int_equal(run->tasks[1].fetch_map, 2);
        assert_int_equal(run->tasks[1].fetch_shuffle, placed->shuffle.id);
        run_free(run);
        run_free(maps);
}

static void receives_map_outputs(void **state)
{
        struct slot_world *w = *state;
        fst_rdd *pairs = fst_map(numbers(w, 4), to_pair, FST_PAIR(I64, I64));
        fst_rdd *summed = fst_partition_by(pairs, 5);
        assert_int_equal(rdd_plan(summed), 0);
        slot_submit(w->slot, run_of(stage_of(w, pairs, summed), 4));
        struct task_batch *run = wait_for(w);
        for (int i = 0; i < 4; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->state != TASK_SUCCEEDED)
                        fail_msg("%s", t->message);
                assert_non_null(t->shuffle_output);
                assert_int_equal(t->shuffle_output->rows, 100);
                assert_true(spill_in_memory(t->shuffle_output->file));
                assert_true(t->shuffle_output->memory > 0);
                assert_int_equal(rows_of(t->shuffle_output), 100);
        }
        /* Evicted blocks are on disk with the same content. */
        size_t used = memory_manager_storage_used(w->env.memory);
        assert_true(used > 0);
        assert_true(shuffle_store_evict(w->env.shuffles, used) >= used);
        assert_int_equal(memory_manager_storage_used(w->env.memory), 0);
        for (int i = 0; i < 4; i++) {
                assert_false(spill_in_memory(run->tasks[i].shuffle_output->file));
                assert_int_equal(rows_of(run->tasks[i].shuffle_output), 100);
        }
        run_free(run);
}

/* With isolation off only suspects run in a task process, which ends after them. */
static void suspects_run_alone(void **state)
{
        struct slot_world *w = *state;
        struct task_batch *run = run_all(w, numbers(w, 2), 2);
        assert_int_equal(counted(run, 0), 100);
        assert_false(run->tasks[0].is_encoded);
        run_free(run);
        run = run_of(stage_of(w, fst_map(numbers(w, 4), touch_null, FST_I64), NULL), 4);
        run->crash_suspect = true;
        slot_submit(w->slot, run);
        run = wait_for(w);
        assert_says(&run->tasks[3], "touch_null");
        assert_int_equal(counted(run, 0), 100);
        run_free(run);
}

/* ---------------------------------------------------------------------- zygotes and task processes as processes */

static bool alive(pid_t pid)
{
        char path[40], state = 0;
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "re");
        if (!f)
                return false;
        bool read = fscanf(f, "%*d (%*[^)]) %c", &state) == 1;
        fclose(f);
        return read && state != 'Z';
}

static bool ends_soon(pid_t pid)
{
        for (int i = 0; i < 60000 && alive(pid); i++)
                usleep(1000);
        return !alive(pid);
}

/* Acts as an executor that prints its processes and then sleeps. In a child of the test, which has one thread. */
static void be_executor(int out)
{
        struct zygote *z;
        if (zygote_new(&task_process_class, &z, NULL))
                _exit(1);
        int work[2], status[2];
        struct zygote_report report;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, work) ||
            socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, status) || zygote_fork(z, work[1], status[1], NULL))
                _exit(1);
        if (read(status[0], &report, sizeof(report)) != sizeof(report) || report.kind != ZYGOTE_FORKED)
                _exit(1);
        pid_t pids[2] = {zygote_pid(z), report.pid};
        if (write(out, pids, sizeof(pids)) != sizeof(pids))
                _exit(1);
        pause();
        _exit(0);
}

static pid_t start_executor(pid_t pids[static 2])
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t executor = fork();
        if (executor == 0)
                be_executor(ends[1]);
        close(ends[1]);
        assert_int_equal(read(ends[0], pids, 2 * sizeof(pid_t)), 2 * sizeof(pid_t));
        close(ends[0]);
        assert_true(alive(pids[0]));
        assert_true(alive(pids[1]));
        return executor;
}

static void no_process_outlives_the_executor(void **state)
{
#if defined(__SANITIZE_THREAD__)
        skip(); /* the sanitizer's thread is also in the child, where the zygote requires a single thread */
#endif
        pid_t pids[2], executor = start_executor(pids);
        kill(executor, SIGKILL);
        assert_true(ends_soon(pids[0]));
        assert_true(ends_soon(pids[1]));
        waitpid(executor, NULL, 0);
}

static void task_processes_end_with_the_zygote(void **state)
{
#if defined(__SANITIZE_THREAD__)
        skip(); /* the sanitizer's thread is also in the child, where the zygote requires a single thread */
#endif
        pid_t pids[2], executor = start_executor(pids);
        kill(pids[0], SIGKILL);
        assert_true(ends_soon(pids[1]));
        kill(executor, SIGKILL);
        waitpid(executor, NULL, 0);
}

static void zygote_needs_a_single_thread(void **state)
{
        struct slot_world *w = *state; /* its slot is a thread */
        struct zygote *z = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_non_null(w->slot);
        assert_int_equal(zygote_new(&task_process_class, &z, &error), -EBUSY);
        assert_non_null(strstr(error_message(&error), "start no thread before the context"));
        error_deinit(&error);
}

/* Runs last: it ends the zygote of this program. */
static void fails_tasks_without_a_zygote(void **state)
{
        struct slot_world *w = *state;
        struct task_batch *run = run_all(w, numbers(w, 1), 1);
        assert_int_equal(counted(run, 0), 100);
        run_free(run);
        kill(zygote_pid(zygote), SIGKILL);
        assert_true(ends_soon(zygote_pid(zygote)));
        run = run_all(w, numbers(w, 2), 2);
        assert_says(&run->tasks[0], "the zygote");
        assert_says(&run->tasks[1], "the zygote");
        run_free(run);
}

static void memory_shares_add_up(void **state)
{
        struct isolation_shares s = isolation_divide(1000, 400, 0.6, 0.5, 4);
        assert_int_equal(s.executor_pool, 300);
        assert_int_equal(s.process_heap, 125);
        assert_int_equal(s.process_data, 350);
        assert_int_equal(isolation_divide(1000, 400, 0.6, 0.5, 0).process_data, 1400);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(memory_shares_add_up),
                cmocka_unit_test(no_process_outlives_the_executor),
                cmocka_unit_test(task_processes_end_with_the_zygote),
                cmocka_unit_test_setup_teardown(counts_in_a_task_process, setup, teardown),
                cmocka_unit_test_setup_teardown(segfault_costs_one_task, setup, teardown),
                cmocka_unit_test_setup_teardown(reports_crashes_and_exits, setup, teardown),
                cmocka_unit_test_setup_teardown(leaks_fail_alone, setup, teardown),
                cmocka_unit_test_setup_teardown(wild_writes_harm_no_other_task, setup, teardown),
                cmocka_unit_test_setup_teardown(kills_an_endless_loop, setup, teardown),
                cmocka_unit_test_setup_teardown(kills_a_cooperative_task_by_its_flag, setup, teardown),
                cmocka_unit_test_setup_teardown(fails_a_task_beyond_the_memory_limit, setup, teardown),
                cmocka_unit_test_setup_teardown(fails_a_task_beyond_the_memory_limit, setup_threads, teardown),
                cmocka_unit_test_setup_teardown(reports_a_task_process_killed_from_outside, setup, teardown),
                cmocka_unit_test_setup_teardown(receives_map_outputs, setup, teardown),
                cmocka_unit_test_setup_teardown(reads_shuffles, setup, teardown),
                cmocka_unit_test_setup_teardown(suspects_run_alone, setup_threads, teardown),
                cmocka_unit_test_setup_teardown(zygote_needs_a_single_thread, setup, teardown),
                cmocka_unit_test_setup_teardown(fails_tasks_without_a_zygote, setup, teardown),
        };
        struct rlimit none = {0, 0};
        struct fst_error error = FST_ERROR_INIT;
        setrlimit(RLIMIT_CORE, &none);
        log_set_level(LOG_OFF);
        if (zygote_new(&task_process_class, &zygote, &error)) {
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        int r = cmocka_run_group_tests(tests, NULL, NULL);
        zygote_free(zygote);
        return r;
}
