/*
 * Implements firesteel/shared.h inside tasks: the task's accumulator updates, and the broadcast variables and files
 * that its executor provides (rdd/pipeline/task_services.h).
 *
 * A value is fetched once and then kept until the attempt ends.
 */
#include <firesteel/shared.h>

#include "base/mem.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/pipeline/task_services.h"

#include <inttypes.h>

/* ----------------------------------------------------------------------------------------------- accumulators */

static struct accumulator_update *task_accumulator_update(fst_task *task, fst_accumulator a)
{
        struct task_run *run = task->run;
        /*
         * The usual case: the accumulator of the last call.
         *
         */
        struct accumulator_update *u = run->accumulated_last;
        if (likely(u && u->accumulator.id == a.id && u->accumulator.kind == a.kind && u->accumulator.size == a.size))
                return u;
        u = accumulator_updates_of(&run->accumulated, a);
        if (!u)
                task_run_fail(run, -E2BIG, "a task uses more than %d accumulators", MAX_ACCUMULATOR_UPDATES);
        return run->accumulated_last = u;
}

FST_API void fst_accumulate_i64(fst_task *task, fst_accumulator a, int64_t x)
{
        if (task_run_missing(task, "fst_accumulate_i64"))
                return;
        struct accumulator_update *u;
        if (a.id > 0 && a.kind == FST_ACCUMULATOR_I64) {
                if ((u = task_accumulator_update(task, a)))
                        accumulator_add_i64(&u->i64, x);
        } else {
                fst_accumulate_f64(task, a, (double)x);
        }
}

FST_API void fst_accumulate_f64(fst_task *task, fst_accumulator a, double x)
{
        if (task_run_missing(task, "fst_accumulate_f64"))
                return;
        struct accumulator_update *u;
        if (a.id > 0 && a.kind == FST_ACCUMULATOR_F64) {
                if ((u = task_accumulator_update(task, a)))
                        accumulator_add_f64(&u->f64, x);
        } else if (a.id > 0 && a.kind == FST_ACCUMULATOR_I64) {
                fst_fail(task, "accumulator %" PRId64 "takes integers, not floats: create it with fst_accumulator_f64",
                         a.id);
        } else if (a.id > 0 && a.kind == FST_ACCUMULATOR_OWN) {
                fst_fail(task, "accumulator %" PRId64 "is one of your own: update it through fst_accumulator_state",
                         a.id);
        } else {
                fst_fail(task, "unknown accumulator: was the handle created before it was captured?");
        }
}

FST_API void *fst_accumulator_state(fst_task *task, fst_accumulator a)
{
        if (task_run_missing(task, "fst_accumulator_state"))
                return NULL;
        if (a.id > 0 && a.kind == FST_ACCUMULATOR_OWN && a.size >= 1 && a.size <= FST_ACCUMULATOR_MAX) {
                struct accumulator_update *u = task_accumulator_update(task, a);
                return u ? u->own : NULL;
        }
        fst_fail(task, "the handle is not an accumulator of your own: was it created, with fst_accumulator_own, "
                       "before it was captured?");
        return NULL;
}

/* ---------------------------------------------------------------------------------------- broadcast variables */

static void task_shared_hold(struct task_run *run, const struct held_broadcast *held)
{
        if (run->n_broadcasts == run->broadcasts_room) {
                run->broadcasts_room = run->broadcasts_room ? run->broadcasts_room * 2 : 4;
                run->broadcasts = mem_grow(run->broadcasts, (size_t)run->broadcasts_room * sizeof(*run->broadcasts));
        }
        run->broadcasts[run->n_broadcasts++] = *held;
}

void task_run_release_shared(struct task_run *run)
{
        while (run->n_broadcasts > 0)
                run->services->release(run->services->owner, run->broadcasts[--run->n_broadcasts].hold);
        accumulator_updates_free(steal(run->accumulated));
        run->accumulated_last = NULL;
}

struct accumulator_updates *task_run_take_accumulated(struct task_run *run)
{
        run->accumulated_last = NULL;
        return steal(run->accumulated);
}

static fst_bytes task_shared_fetch(fst_task *task, fst_broadcast b)
{
        struct task_run *run = task->run;
        struct fst_error error = FST_ERROR_INIT;
        struct held_broadcast held = {.id = b.id, .size = b.size};
        int r;
        if (b.id < 1)
                r = error_set(&error, -EINVAL,
                              "unknown broadcast variable: was the handle created before it was "
                              "captured?");
        else if (!run->services || !run->services->broadcast)
                r = error_set(&error, -ENOTSUP, "broadcast variables are not available here");
        else
                r = run->services->broadcast(run->services->owner, b.id, b.size, task->stopped, &held.data, &held.hold,
                                             &error);
        if (r == -ECANCELED)
                task_run_cancelled(run);
        else if (r)
                fst_fail(task, "%s", error_message(&error));
        error_deinit(&error);
        if (r)
                return (fst_bytes){NULL, 0};
        task_shared_hold(run, &held);
        return (fst_bytes){held.data, b.size};
}

FST_API fst_bytes fst_task_broadcast(fst_task *task, fst_broadcast b)
{
        if (task_run_missing(task, "fst_task_broadcast"))
                return (fst_bytes){NULL, 0};
        const struct task_run *run = task->run;
        for (int i = 0; i < run->n_broadcasts; i++)
                if (run->broadcasts[i].id == b.id && run->broadcasts[i].size == b.size)
                        return (fst_bytes){run->broadcasts[i].data, b.size};
        return task_shared_fetch(task, b);
}

/* ------------------------------------------------------------------------------------------------------ files */

FST_API const char *fst_task_file(fst_task *task, const char *name)
{
        if (task_run_missing_argument(task, name, "fst_task_file", "a name"))
                return NULL;
        struct task_run *run = task->run;
        struct fst_error error = FST_ERROR_INIT;
        const char *path = NULL;
        int r = run->services && run->services->file
                        ? run->services->file(run->services->owner, name, task->stopped, &path, &error)
                        : error_set(&error, -ENOTSUP, "application files are not available here");
        if (r == -ECANCELED)
                task_run_cancelled(run);
        else if (r)
                fst_fail(task, "%s", error_message(&error));
        error_deinit(&error);
        return r ? NULL : path;
}
