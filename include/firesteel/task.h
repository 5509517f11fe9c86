/*
 * The task: the first argument of your functions.
 *
 * A task computes one partition of one stage. The scheduler may run it again after a failure or a lost executor, so a
 * function must have no effect but the rows that it emits. Call everything here on the function's own thread.
 *
 * The members of fst_task are private. The struct grows at its end. Use the functions.
 */
#pragma once

#include <firesteel/types.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

FST_BEGIN_DECLS

typedef struct fst_task {
        uint64_t random_state; /* fst_random_u64 */
        const void *captured;  /* fst_captured of the function that runs */
        const int *stopped;    /* fst_task_interrupted */
        struct fst_task_info {
                int64_t id; /* unique in the application */
                int32_t stage, stage_attempt;
                int32_t partition; /* 0 … partitions of the stage - 1 */
                int32_t attempt;   /* 0 for the first */
        } info;
        struct task_run *run; /* the engine's own */
} fst_task;

static inline int fst_task_partition(const fst_task *task)
{
        return task->info.partition;
}

/* 0 for the first attempt of this partition, 1 for the second, … */
static inline int fst_task_attempt(const fst_task *task)
{
        return task->info.attempt;
}

static inline int fst_task_stage(const fst_task *task)
{
        return task->info.stage;
}

static inline int64_t fst_task_id(const fst_task *task)
{
        return task->info.id;
}

/* The number of partitions of the stage, and the number of cores reserved for the task (spark.task.cpus). */
FST_API int fst_task_partitions(const fst_task *task);
FST_API int fst_task_cpus(const fst_task *task);

/*
 * True once the job has been cancelled or the task killed. A function that computes for a long time should check it
 * now and then.
 */
static inline bool fst_task_interrupted(const fst_task *task)
{
        return __atomic_load_n(task->stopped, __ATOMIC_RELAXED) != 0;
}

/*
 * The value of a local property (fst_set_local_property) that the thread that called the action had set, or NULL.
 * Valid until the task ends.
 */
FST_API const char *fst_task_local_property(const fst_task *task, const char *key);

/*
 * Call @f when this attempt of the task ends: when its partition is complete, when it has failed, or when it was
 * cancelled. Listeners run on the task's thread, the last registered first; those for failure, which get the error
 * message, run before those for completion. @data must stay valid until then, so it must not point to a variable of a
 * function of map_partitions. A listener returns 0, or a negative status (see fst_fail): the task then fails, and the
 * other listeners run all the same.
 *
 *      static int hang_up(fst_task *task, void *connection) ...
 *      fst_task_on_completion(task, hang_up, connection);
 */
FST_API void fst_task_on_completion(fst_task *task, int (*f)(fst_task *task, void *data), void *data);
FST_API void fst_task_on_failure(fst_task *task, int (*f)(fst_task *task, void *data, const char *message), void *data);

/* The struct captured with this function by FST_WITH: a constant copy, or NULL. */
static inline const void *fst_captured(const fst_task *task)
{
        return task->captured;
}

/*
 * The addresses of a custom resource that the task may use while it runs (spark.task.resource.gpu.amount: "gpu").
 * Writes the first @max of them to @addresses, valid until the task ends. Returns their number; 0 if there are none.
 */
FST_API int fst_task_resource(const fst_task *task, const char *name, const char **addresses, size_t max);

/*
 * Fail the task with a message for the user, which the function's name precedes: `return fst_fail(task, "line %zu is
 * not a number", i);`. The scheduler tries the task again until it has failed spark.task.maxFailures times (with a
 * local master: once, or as often as local[N,maxFailures] says). Then the job fails with the last message. Always
 * returns -1.
 */
FST_API int fst_fail(fst_task *task, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/*
 * Random numbers. Each task has its own stream, seeded by stage and partition, so a repeated attempt computes the same
 * rows. The generator is a counter and one wide multiplication ("wyrand", Wang Yi): good for sampling and simulation,
 * not for secrets.
 */
static inline uint64_t fst_random_u64(fst_task *task)
{
        uint64_t s = task->random_state += 0xa0761d6478bd642fu;
        __extension__ unsigned __int128 product = (unsigned __int128)s * (s ^ 0xe7037ed1a0b428dbu);
        return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Uniform in [0, 1) with 53 bits. */
static inline double fst_random_f64(fst_task *task)
{
        return (double)(int64_t)(fst_random_u64(task) >> 11) * (1.0 / 9007199254740992.0);
}

/* Two independent numbers, uniform in [0, 1) with 32 bits each, for the price of one: a point in a square. */
static inline void fst_random_point(fst_task *task, double *x, double *y)
{
        uint64_t bits = fst_random_u64(task);
#ifdef __SSE2__
        __m128d point = _mm_cvtepi32_pd(_mm_cvtsi64_si128((long long)bits));
        point = _mm_add_pd(_mm_mul_pd(point, _mm_set1_pd(1.0 / 4294967296.0)), _mm_set1_pd(0.5));
        *x = _mm_cvtsd_f64(point);
        *y = _mm_cvtsd_f64(_mm_unpackhi_pd(point, point));
#else
        *x = (double)(int32_t)bits * (1.0 / 4294967296.0) + 0.5;
        *y = (double)(int32_t)(bits >> 32) * (1.0 / 4294967296.0) + 0.5;
#endif
}

FST_END_DECLS
