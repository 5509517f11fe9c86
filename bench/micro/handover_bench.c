/*
 * Measures the time to send an empty task to an idle task process and to get its outcome, through a slot as in an
 * executor, and the same for a task on a thread.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "exec/isolation/isolation.h"
#include "exec/slot.h"
#include "exec/task/stage_wire.h"
#include "exec/isolation/task_process.h"
#include "exec/isolation/zygote.h"
#include "rdd/rdd.h"
#include "rdd/rdd_registry.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 5000

static const struct task_process_class class = {.decode = stage_decode, .encode_result = task_result_encode};
static struct rdd_registry registry; /* lineage uses it as its context */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task_batch *done;

static int handover_encode(const struct stage_context *work, struct buf *out, struct fst_error *error)
{
        return stage_encode(work, &(struct stage_modules_source){.same_program = true}, out, error);
}

static void run_done(void *owner, struct task_batch *run)
{
        pthread_mutex_lock(&lock);
        done = run;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
}

static int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
        return (x > y) - (x < y);
}

static void handover_measure(const char *what, struct exec_env *env, struct stage_context *work, int n)
{
        static int64_t times[ROUNDS];
        struct slot *slot;
        struct task_batch *run = new0(struct task_batch);
        if (slot_new(0, env, run_done, NULL, &slot, NULL))
                exit(1);
        for (int i = 0; i < ROUNDS; i++) {
                int64_t begin = now_ns();
                run->work = work;
                run->n = n;
                for (int t = 0; t < n; t++)
                        run->tasks[t] = (struct slot_task){.info = {.id = t}};
                slot_submit(slot, run);
                pthread_mutex_lock(&lock);
                while (!done)
                        pthread_cond_wait(&changed, &lock);
                done = NULL;
                pthread_mutex_unlock(&lock);
                times[i] = now_ns() - begin;
                for (int t = 0; t < n; t++) {
                        if (run->tasks[t].state != TASK_SUCCEEDED) {
                                fprintf(stderr, "%s\n", run->tasks[t].message);
                                exit(1);
                        }
                        buf_deinit(&run->tasks[t].encoded);
                }
        }
        qsort(times, ROUNDS, sizeof(times[0]), compare);
        printf("%-28s median %6.1f µs, 99%% %6.1f µs, a task %6.2f µs\n", what, (double)times[ROUNDS / 2] / 1e3,
               (double)times[ROUNDS / 100 * 99] / 1e3, (double)times[ROUNDS / 2] / 1e3 / n);
        slot_free(slot);
        free(run);
}

int main(void)
{
        struct zygote *zygote;
        struct exec_env env = {0};
        struct isolation *isolation;
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        log_set_level(LOG_OFF);
        conf_init(&conf);
        conf_set(&conf, "spark.firesteel.task.isolation", "process");
        rdd_registry_init(&registry, &conf);
        if (zygote_new(&class, &zygote, &error) || exec_env_init(&env, &conf, 256 << 20, &error) ||
            isolation_new(&conf, zygote, 1, 256 << 20, 1, &isolation, &error)) {
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        isolation->encode = handover_encode;
        fst_rdd *rdd = fst_range_n((fst_context *)&registry, 0, 1, 1);
        struct action count = {.class = &count_action_class, .type = FST_I64};
        struct stage_context work = {.refs = 1 << 20, .env = &env, .final = rdd, .action = &count};
        if (rdd_plan(rdd))
                return 1;
        handover_measure("thread, 1 task", &env, &work, 1);
        handover_measure("thread, 256 tasks", &env, &work, 256);
        env.isolation = isolation;
        handover_measure("worker process, 1 task", &env, &work, 1);
        handover_measure("worker process, 256 tasks", &env, &work, 256);
        isolation_free(isolation);
        rdd_registry_deinit(&registry);
        exec_env_deinit(&env);
        conf_deinit(&conf);
        return 0;
}
