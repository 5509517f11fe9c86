/*
 * What tasks share: broadcast variables, accumulators, and the application's files.
 *
 * A broadcast variable is bytes, or a plain struct without pointers, that the driver gives to every executor once,
 * however many tasks read it. An accumulator is what tasks add to and the driver reads. Both are known by a handle, a
 * plain struct: it may be captured (FST_WITH), alone or as a member of the captured struct.
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
 *      printf("%lld\n", (long long)fst_accumulator_sum_i64(sc, shared.dropped));
 *
 * A handle that was never made (all zero bytes), or in a context that was stopped, is refused: the task fails; on the
 * driver the call logs an error, and fst_context_stop returns -EINVAL.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/context.h>
#include <firesteel/function.h>
#include <firesteel/task.h>

FST_BEGIN_DECLS

/* ---------------------------------------------------------------------------------------- broadcast variables */

typedef struct fst_broadcast {
        int64_t id; /* 1, 2, … in the process; 0: there is none */
        uint64_t size;
} fst_broadcast;

/*
 * Give @size bytes to executors. They are copied, and cut into pieces of spark.broadcast.blockSize, which executors
 * fetch when a task first asks for the value, from the driver and from each other. When the bytes cannot be kept, the
 * reason is logged, the context's status becomes it, and the handle is of none. Any thread of the driver.
 */
FST_API fst_broadcast fst_broadcast_bytes(fst_context *sc, const void *data, size_t size);

/* fst_broadcast fst_broadcast_struct(fst_context *sc, const T *value): a plain struct, or an array of known size. */
#define fst_broadcast_struct(sc, value) fst_broadcast_bytes((sc), (value), sizeof(*(value)))

/*
 * fst_bytes fst_broadcast_value(fst_task *task, fst_broadcast variable)
 * fst_bytes fst_broadcast_value(fst_context *sc, fst_broadcast variable)
 *
 * The value, aligned for any type, never to be written to: in a function of a task, valid until the task ends; on the
 * driver, until the variable is destroyed. The first call in a process may wait for the bytes to arrive; further calls
 * in a task cost a few nanoseconds. When they cannot be had (the variable is destroyed, nobody has a piece any more)
 * the task fails as by fst_fail, and `data` is NULL: return then.
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

/* Drop the copies on executors; a task that asks for the value again fetches it again. */
FST_API void fst_broadcast_unpersist(fst_context *sc, fst_broadcast variable);

/* Drop it everywhere. Tasks that ask for it later fail; fst_context_stop destroys what is left. */
FST_API void fst_broadcast_destroy(fst_context *sc, fst_broadcast variable);

/* ---------------------------------------------------------------------------------------------- accumulators */

enum fst_accumulator_kind { FST_ACCUMULATOR_NONE, FST_ACCUMULATOR_I64, FST_ACCUMULATOR_F64, FST_ACCUMULATOR_OWN };

/* The largest state of an accumulator of one's own. */
#define FST_ACCUMULATOR_MAX 65536

typedef struct fst_accumulator {
        int64_t id;    /* 1, 2, … in the process; 0: there is none */
        uint32_t kind; /* enum fst_accumulator_kind */
        uint32_t size; /* bytes of its state */
} fst_accumulator;

/*
 * An accumulator of integers or of floats: count, sum, least and greatest of what is added. @name is shown with the
 * stages (and in the event log); NULL: it has none. Any thread of the driver.
 */
FST_API fst_accumulator fst_accumulator_i64(fst_context *sc, const char *name);
FST_API fst_accumulator fst_accumulator_f64(fst_context *sc, const char *name);

/*
 * void fst_accumulate(fst_task *task, fst_accumulator a, int64_t or double x)
 *
 * Add to it, in a function of a task. What a task added counts once it has succeeded, and once only: a task that
 * fails adds nothing, and of several attempts of a partition one counts. That holds for the tasks of actions and, other
 * than Spark's, for those that write shuffles: what is computed again because an executor was lost is not added
 * again. (A function whose rows two jobs compute adds in both, as in Spark.) Integers given to an accumulator of floats
 * are converted; floats given to one of integers fail the task.
 */
#define fst_accumulate(task, a, x)                                                                                     \
        _Generic((x), double                                                                                           \
                 : fst_accumulate_f64, float                                                                           \
                 : fst_accumulate_f64, default                                                                         \
                 : fst_accumulate_i64)((task), (a), (x))
FST_API void fst_accumulate_i64(fst_task *task, fst_accumulator a, int64_t x);
FST_API void fst_accumulate_f64(fst_task *task, fst_accumulator a, double x);

/* What has been added so far. With a count of 0 the rest is 0. Sums of integers wrap around. */
typedef struct fst_totals_i64 {
        int64_t count, sum, min, max;
} fst_totals_i64;
typedef struct fst_totals_f64 {
        int64_t count;
        double sum, min, max;
} fst_totals_f64;

/*
 * On the driver: what the tasks that succeeded have added. A job's are in it when its action returns. Any thread. The
 * f64 form reads an accumulator of integers as well.
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

/* Let its sum be @x from now on; counts, least and greatest stay. On the driver, between jobs that add to it. */
FST_API void fst_accumulator_set_i64(fst_context *sc, fst_accumulator a, int64_t x);
FST_API void fst_accumulator_set_f64(fst_context *sc, fst_accumulator a, double x);

/* The name that it was given, or NULL; borrowed until the context stops. */
FST_API const char *fst_accumulator_name(fst_context *sc, fst_accumulator a);

/*
 * fst_accumulator fst_accumulator_own(fst_context *sc, const char *name, const T *zero, MERGE merge)
 *
 * One of one's own: its state is a plain struct without pointers, of FST_ACCUMULATOR_MAX bytes at most; @zero (copied)
 * is the state to which nothing was added. Tasks change their own state through fst_accumulator_state; the driver puts
 * them together, one task after another in no particular order, with
 *
 *      int merge(fst_task *task, void *into, const void *from)
 *
 * for which @task is no task: only fst_fail may be called with it. What it answers, if not 0, fails the job.
 *
 * fst_accumulator_state is the task's own state (all zero bytes until the task wrote to it: @zero stays with the
 * driver), or NULL after having failed the task.
 */
#define fst_accumulator_own(sc, name, zero, merge)                                                                     \
        fst_accumulator_own_of((sc), (name), (zero), sizeof(*(zero)), FST_FN(merge))
FST_API fst_accumulator fst_accumulator_own_of(fst_context *sc, const char *name, const void *zero, size_t size,
                                               fst_fn merge);
FST_API void *fst_accumulator_state(fst_task *task, fst_accumulator a);

/* Copy the state as put together so far to @state, of a.size bytes: 0, or -EINVAL. On the driver. */
FST_API int fst_accumulator_read(fst_context *sc, fst_accumulator a, void *state);

/* Nothing was added: begin anew. On the driver, between jobs that add to it. */
FST_API void fst_accumulator_reset(fst_context *sc, fst_accumulator a);

/* --------------------------------------------------------------------------------------- files of the application */

/*
 * Have every executor fetch a local file, as spark.files and --files do, or a directory's or archive's content
 * (spark.archives, --archives: .zip, .tar, .tar.gz, .tgz, .jar; "data.zip#name" unpacks into the directory "name"). The
 * file is copied: later changes are not seen. 0, or a status whose message was logged: -EEXIST if there is another file
 * of that name. Any thread of the driver.
 */
FST_API int fst_add_file(fst_context *sc, const char *path);
FST_API int fst_add_archive(fst_context *sc, const char *path);

/*
 * The names by which fst_file finds them, those of the configuration too: up to @max of them into @names, borrowed
 * until the context stops; how many there are. Any thread of the driver.
 */
FST_API int fst_list_files(fst_context *sc, const char **names, size_t max);
FST_API int fst_list_archives(fst_context *sc, const char **names, size_t max);

/*
 * const char *fst_file(fst_task *task, const char *name)
 * const char *fst_file(fst_context *sc, const char *name)
 *
 * Where the file (or the directory of an archive) with that name lies here: an absolute path that lives as long as the
 * task, or the context. NULL when there is none: the task fails as by fst_fail; on the driver it is logged.
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
