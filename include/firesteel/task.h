/*
 * The task: what a function of yours is called with, first of all.
 *
 * A task computes one partition of one stage. It may be attempted several times (a failure, a lost executor),
 * so a function has no effects but the rows that it emits. All calls here are for the function's own thread.
 */
#pragma once

#include <firesteel/types.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

FST_BEGIN_DECLS

typedef struct fst_task {
        uint64_t random_state; /* fst_random_u64 */
        const void *captured;  /* fst_captured: of the function being called */
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

/* How many partitions the stage has; and how many cores the task has for itself (spark.task.cpus). */
FST_API int fst_task_partitions(const fst_task *task);
FST_API int fst_task_cpus(const fst_task *task);

/* True once the job was cancelled or the task killed. A function that computes for long looks now and then. */
static inline bool fst_task_interrupted(const fst_task *task)
{
        return __atomic_load_n(task->stopped, __ATOMIC_RELAXED) != 0;
}

/*
 * What the thread that ran the action had set (fst_set_local_property) when it did: its value for @key, or NULL.
 * Valid until the task ends.
 */
FST_API const char *fst_task_local_property(const fst_task *task, const char *key);

/*
 * Have @f called when this attempt of the task ends: when all of its partition is done, when it has failed, or was
 * cancelled. Listeners are called the latest first, on the task's thread; those of failure, which are given its
 * message, before those of completion. What @data points to must last until then, which a variable of a function of
 * map_partitions does not. A listener answers 0, or negative (see fst_fail): then the others are called all the same,
 * and the task has failed.
 *
 *      static int hang_up(fst_task *task, void *connection) ...
 *      fst_task_on_completion(task, hang_up, connection);
 */
FST_API void fst_task_on_completion(fst_task *task, int (*f)(fst_task *task, void *data), void *data);
FST_API void fst_task_on_failure(fst_task *task, int (*f)(fst_task *task, void *data, const char *message), void *data);

/* The struct that was given with FST_WITH beside this function: its own copy, constant, or NULL. */
static inline const void *fst_captured(const fst_task *task)
{
        return task->captured;
}

/*
 * The addresses of a custom resource that the task may use while it runs (spark.task.resource.gpu.amount: "gpu"): the
 * first @max of them are in @addresses, valid until the task ends. Returns how many there are; 0: none.
 */
FST_API int fst_task_resource(const fst_task *task, const char *name, const char **addresses, size_t max);

/*
 * Fail the task with a message for the user, before which the function's name is put:
 * `return fst_fail(task, "line %zu is no number", i);`. The task is tried again up to spark.task.maxFailures times
 * (with a local master: not at all, or as often as local[N,maxFailures] says), then the job fails with the last
 * message. Always returns -1.
 */
FST_API int fst_fail(fst_task *task, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/*
 * Random numbers: a stream for each task, seeded by stage and partition, so that a repeated attempt computes the
 * same rows. A counter and one wide multiplication ("wyrand", Wang Yi): good for sampling and simulation, not for
 * secrets.
 */
static inline uint64_t fst_random_u64(fst_task *task)
{
        uint64_t s = task->random_state += 0xa0761d6478bd642fu;
        __extension__ unsigned __int128 product = (unsigned __int128)s * (s ^ 0xe7037ed1a0b428dbu);
        return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Uniform in [0, 1), with 53 bits. */
static inline double fst_random_f64(fst_task *task)
{
        return (double)(int64_t)(fst_random_u64(task) >> 11) * (1.0 / 9007199254740992.0);
}

/* Two numbers, uniform in [0, 1) and independent, with 32 bits each, for the price of one: a point in a square. */
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
