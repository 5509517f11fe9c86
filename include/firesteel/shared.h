/*
 * Broadcast variables, accumulators, and the application's files.
 *
 * A broadcast variable is bytes, or a plain struct without pointers, that the driver sends to each executor once,
 * however many tasks read it. Tasks add to an accumulator, and the driver reads it. The handles of both are plain
 * structs. A function can capture a handle (FST_WITH), alone or as a member of the captured struct.
 *
 *      struct shared { fst_broadcast stop_words; fst_accumulator dropped; };
 *
 *      static bool wanted(fst_task *task, fst_bytes word)
 *      {
 *              const struct shared *shared = fst_captured(task);
 *              fst_bytes stop_words = fst_broadcast_value(task, shared->stop_words);
 *              if (!contains(stop_words, word))
 *                      return true;
 *              fst_accumulate(task, shared->dropped, 1);
 *              return false;
 *      }
 *
 *      struct shared shared = {fst_broadcast_bytes(sc, text, length), fst_accumulator_i64(sc, "dropped words")};
 *      fst_count(fst_filter(words, FST_WITH(wanted, shared)), &count);
 *      printf("%" PRId64 "\n", fst_accumulator_sum_i64(sc, shared.dropped));
 *
 * An invalid handle (all zero bytes, or of a context that was stopped) is refused: the task fails; on the driver the
 * call logs an error, and fst_context_stop returns -EINVAL.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/context.h>
#include <firesteel/function.h>
#include <firesteel/task.h>

FST_BEGIN_DECLS

/* ---------------------------------------------------------------------------------------- broadcast variables */

typedef struct fst_broadcast {
        int64_t id; /* 1, 2, … in the process; 0 is invalid */
        uint64_t size;
} fst_broadcast;

/*
 * Copy @size bytes into a broadcast variable. Executors fetch it in pieces of spark.broadcast.blockSize, from the
 * driver and from each other, when a task first reads the value. If the bytes cannot be stored, the reason is logged
 * and becomes the context's status, and the handle is invalid. Any thread of the driver.
 */
FST_API fst_broadcast fst_broadcast_bytes(fst_context *sc, const void *data, size_t size);

/* fst_broadcast fst_broadcast_struct(fst_context *sc, const T *value): a plain struct, or an array of known size. */
#define fst_broadcast_struct(sc, value) fst_broadcast_bytes((sc), (value), sizeof(*(value)))

/*
 * fst_bytes fst_broadcast_value(fst_task *task, fst_broadcast variable)
 * fst_bytes fst_broadcast_value(fst_context *sc, fst_broadcast variable)
 *
 * The value, aligned for any type. Do not write to it. It is valid until the task ends or, on the driver, until the
 * variable is destroyed. The first call in a process may wait for the bytes. Later calls in a task take a few
 * nanoseconds. If the value is not available (the variable was destroyed, every copy of a piece was lost), the task
 * fails as by fst_fail and `data` is NULL: return then.
 */
#define fst_broadcast_value(from, variable)                                                                            \
        _Generic((from), fst_task *                                                                                    \
                 : fst_task_broadcast, fst_context *                                                                   \
                 : fst_context_broadcast, default                                                                      \
                 : fst_refuse_source)((from), (variable))
__attribute__((error("fst_broadcast_value takes an fst_task or an fst_context: see firesteel/shared.h"))) fst_bytes
fst_refuse_source(const void *from, ...);
FST_API fst_bytes fst_task_broadcast(fst_task *task, fst_broadcast variable);
FST_API fst_bytes fst_context_broadcast(fst_context *sc, fst_broadcast variable);

/* Remove the copies on executors. A task that reads the value later fetches it again. */
FST_API void fst_broadcast_unpersist(fst_context *sc, fst_broadcast variable);

/* Remove all copies. Tasks that read the value later fail. fst_context_stop destroys the variables that are left. */
FST_API void fst_broadcast_destroy(fst_context *sc, fst_broadcast variable);

/* ---------------------------------------------------------------------------------------------- accumulators */

enum fst_accumulator_kind {
        FST_ACCUMULATOR_NONE,
        FST_ACCUMULATOR_I64,
        FST_ACCUMULATOR_F64,
        FST_ACCUMULATOR_OWN,
        FST_ACCUMULATOR_LIST, /* firesteel/python.h */
};

/* The largest state of a custom accumulator, in bytes. */
#define FST_ACCUMULATOR_MAX 65536

typedef struct fst_accumulator {
        int64_t id;    /* 1, 2, … in the process; 0 is invalid */
        uint32_t kind; /* enum fst_accumulator_kind */
        uint32_t size; /* of the state, in bytes */
} fst_accumulator;

/*
 * Create an accumulator of integers or floats: count, sum, minimum and maximum of the values added. Stages and the
 * event log show @name (NULL: none). Any thread of the driver.
 */
FST_API fst_accumulator fst_accumulator_i64(fst_context *sc, const char *name);
FST_API fst_accumulator fst_accumulator_f64(fst_context *sc, const char *name);

/*
 * void fst_accumulate(fst_task *task, fst_accumulator a, int64_t or double x)
 *
 * Add @x, in a function of a task. Each task counts once, when it succeeds: a failed task adds nothing, and only one of
 * several attempts of a partition counts. This holds for tasks of actions and, unlike in Spark, for tasks that write
 * shuffles: a task that runs again because an executor was lost adds nothing. (If two jobs compute the same RDD, its
 * functions add in both, as in Spark.) An accumulator of floats converts integers. An accumulator of integers refuses
 * floats, and the task fails.
 */
#define fst_accumulate(task, a, x)                                                                                     \
        _Generic((x), double                                                                                           \
                 : fst_accumulate_f64, float                                                                           \
                 : fst_accumulate_f64, default                                                                         \
                 : fst_accumulate_i64)((task), (a), (x))
FST_API void fst_accumulate_i64(fst_task *task, fst_accumulator a, int64_t x);
FST_API void fst_accumulate_f64(fst_task *task, fst_accumulator a, double x);

/* The totals so far. If count is 0, the others are 0. Sums of integers wrap around. */
typedef struct fst_totals_i64 {
        int64_t count, sum, min, max;
} fst_totals_i64;
typedef struct fst_totals_f64 {
        int64_t count;
        double sum, min, max;
} fst_totals_f64;

/*
 * Read the totals of the tasks that have succeeded, on the driver. A job's additions are complete when its action
 * returns. Any thread. The f64 form also reads an accumulator of integers.
 */
FST_API fst_totals_i64 fst_accumulator_totals_i64(fst_context *sc, fst_accumulator a);
FST_API fst_totals_f64 fst_accumulator_totals_f64(fst_context *sc, fst_accumulator a);

static inline int64_t fst_accumulator_sum_i64(fst_context *sc, fst_accumulator a)
{
        return fst_accumulator_totals_i64(sc, a).sum;
}

static inline double fst_accumulator_sum_f64(fst_context *sc, fst_accumulator a)
{
        return fst_accumulator_totals_f64(sc, a).sum;
}

/* Set the sum to @x. Count, minimum and maximum stay. On the driver, between jobs that add to it. */
FST_API void fst_accumulator_set_i64(fst_context *sc, fst_accumulator a, int64_t x);
FST_API void fst_accumulator_set_f64(fst_context *sc, fst_accumulator a, double x);

/* The accumulator's name, or NULL. Borrowed until the context stops. */
FST_API const char *fst_accumulator_name(fst_context *sc, fst_accumulator a);

/*
 * fst_accumulator fst_accumulator_own(fst_context *sc, const char *name, const T *zero, MERGE merge)
 *
 * Create a custom accumulator. Its state is a plain struct without pointers, of at most FST_ACCUMULATOR_MAX bytes;
 * @zero (copied) is the initial state. Tasks change their own state through fst_accumulator_state. The driver merges
 * the states of tasks, one after another in no particular order, with
 *
 *      int merge(fst_task *task, void *into, const void *from)
 *
 * @task is valid for fst_fail only. If @merge does not return 0, the job fails.
 *
 * fst_accumulator_state returns the task's own state, or NULL after it has failed the task. The state is all zero bytes
 * until the task writes to it: @zero stays at the driver.
 */
#define fst_accumulator_own(sc, name, zero, merge)                                                                     \
        fst_accumulator_own_of((sc), (name), (zero), sizeof(*(zero)), FST_FN(merge))
FST_API fst_accumulator fst_accumulator_own_of(fst_context *sc, const char *name, const void *zero, size_t size,
                                               fst_fn merge);
FST_API void *fst_accumulator_state(fst_task *task, fst_accumulator a);

/* Copy the merged state to @state, of a.size bytes. Returns 0, or -EINVAL. On the driver. */
FST_API int fst_accumulator_read(fst_context *sc, fst_accumulator a, void *state);

/* Reset to the initial state. On the driver, between jobs that add to it. */
FST_API void fst_accumulator_reset(fst_context *sc, fst_accumulator a);

/* --------------------------------------------------------------------------------------- files of the application */

/*
 * Make every executor fetch a local file, as spark.files and --files do, or the content of a directory or archive, as
 * spark.archives and --archives do (.zip, .tar, .tar.gz, .tgz, .jar; "data.zip#name" unpacks into the directory
 * "name"). The file is copied. Later changes have no effect. "local:" names a file that every node has: nothing is added. Returns
 * 0, or a status whose message has been logged: -EEXIST if another file has that name. Any thread of the driver.
 */
FST_API int fst_add_file(fst_context *sc, const char *path);
FST_API int fst_add_archive(fst_context *sc, const char *path);

/*
 * List the names that fst_file accepts, including those of the configuration. Writes up to @max names to @names,
 * borrowed until the context stops, and returns the number of names. Any thread of the driver.
 */
FST_API int fst_list_files(fst_context *sc, const char **names, size_t max);
FST_API int fst_list_archives(fst_context *sc, const char **names, size_t max);

/*
 * const char *fst_file(fst_task *task, const char *name)
 * const char *fst_file(fst_context *sc, const char *name)
 *
 * The absolute path of the file (or of an archive's directory) with that name on this machine, valid as long as the
 * task or the context. For an unknown name, returns NULL; the task then fails as by fst_fail, and the driver logs an
 * error.
 */
#define fst_file(from, name)                                                                                           \
        _Generic((from), fst_task *                                                                                    \
                 : fst_task_file, fst_context *                                                                        \
                 : fst_context_file, default                                                                           \
                 : fst_refuse_place)((from), (name))
__attribute__((error("fst_file takes an fst_task or an fst_context: see firesteel/shared.h"))) const char *
fst_refuse_place(const void *from, ...);
FST_API const char *fst_task_file(fst_task *task, const char *name);
FST_API const char *fst_context_file(fst_context *sc, const char *name);

FST_END_DECLS
