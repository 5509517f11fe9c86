/*
 * Measures the DAG scheduler and the task scheduler alone: jobs of empty tasks with a backend that answers every launch
 * at once.
 *
 *      sched_bench [TASKS] [ROUNDS] [EXECUTORS] [CORES] [NANOSECONDS OF A TASK]
 *
 * Prints tasks/s of one thread for each round: a result stage, and a map stage followed by a result stage.
 */
#include "base/vec.h"
#include "sched/sched.h"

#include <stdio.h>
#include <time.h>

struct bench {
        struct sched *s;
        VEC(struct task_status) done;
        int64_t task_ns;
        long accepted, runs;
        bool ended;
};

static void nothing_job(void *owner, struct job *job)
{
}

static void nothing_stage(void *owner, struct stage *stage)
{
}

static void nothing_set(void *owner, struct task_set *set)
{
}

static void submitted(void *owner, struct stage *stage, struct task_set *set)
{
}

static void launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        struct bench *b = owner;

        b->runs++;
        for (int i = 0; i < n; i++)
                vec_push(&b->done, (struct task_status){.task_id = run[i].task_id,
                                                        .state = TASK_SUCCEEDED,
                                                        .run_ns = b->task_ns,
                                                        .output = (uint64_t)run[i].task_id + 1});
}

static void kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
}

static void bench_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
}

static void accepted(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        ((struct bench *)owner)->accepted++;
}

static void completed(void *owner, struct stage *stage, const char *failure)
{
}

static void job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        ((struct bench *)owner)->ended = true;
}

static void output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
}

static const struct sched_ops ops = {
        .job_started = nothing_job,
        .stage_submitted = submitted,
        .launch = launch,
        .kill_task = kill_task,
        .task_lost = bench_task_lost,
        .task_accepted = accepted,
        .stage_completed = completed,
        .job_ended = job_ended,
        .map_output_removed = output_removed,
        .task_set_removed = nothing_set,
        .stage_removed = nothing_stage,
        .job_removed = nothing_job,
};

static int64_t clock_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double run_job(struct bench *b, struct lineage *rdd, long tasks)
{
        int64_t begin = clock_ns();

        b->ended = false;
        b->accepted = 0;
        sched_submit_job(b->s, &(struct job_spec){.final = rdd}, begin, NULL);
        sched_revive(b->s, begin);
        while (!b->ended) {
                size_t n = b->done.len;

                /* answers the launches of this round as one batch */
                b->done.len = 0;
                sched_update_status(b->s, b->done.data, (int)n, begin);
                sched_revive(b->s, begin);
        }
        if (b->accepted != tasks) {
                fprintf(stderr, "%ld of %ld tasks were accepted\n", b->accepted, tasks);
                exit(1);
        }
        return (double)tasks * 1e9 / (double)(clock_ns() - begin);
}

static long argument(int argc, char **argv, int i, long otherwise)
{
        return argc > i ? atol(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
        long tasks = argument(argc, argv, 1, 1000000), rounds = argument(argc, argv, 2, 5);
        long executors = argument(argc, argv, 3, 1), cores = argument(argc, argv, 4, 2);
        struct bench b = {.task_ns = argument(argc, argv, 5, 100)};
        struct lineage map = {.id = 0, .partitions = (int)tasks, .name = "map", .call_site = "bench"};
        struct lineage_dep dep = {.kind = LINEAGE_SHUFFLE, .parent = &map, .reduce_partitions = 1};
        struct lineage reduce = {
                .id = 1, .partitions = 1, .name = "reduce", .call_site = "bench", .deps = &dep, .n_deps = 1};

        b.s = sched_new(&SCHED_CONFIG_DEFAULT, &ops, &b);
        for (long i = 0; i < executors; i++) {
                char id[24];

                snprintf(id, sizeof(id), "%ld", i);
                sched_add_executor(b.s, id, "localhost", (int)cores, 0);
        }
        for (long i = 0; i < rounds; i++) {
                b.runs = 0;
                double result = run_job(&b, &map, tasks);
                long runs = b.runs;

                dep.shuffle_id = (int)i;
                printf("result stage %.2f M tasks/s (%ld runs), map stage %.2f M tasks/s\n", result / 1e6, runs,
                       run_job(&b, &reduce, tasks + 1) / 1e6);
        }
        sched_free(b.s);
        vec_deinit(&b.done);
        return 0;
}
