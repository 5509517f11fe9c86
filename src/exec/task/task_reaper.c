/* See task_reaper.h. The behaviour is that of Spark's Executor.TaskReaper. */
#include "exec/task/task_reaper.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"

#include <inttypes.h>

struct watched_task {
        int slot;
        int64_t task_id;
        int64_t since, look;   /* when it was killed, when to check it next */
        int64_t worker_killed; /* when its process was first killed; -1: it was not */
};

struct task_reaper {
        const struct task_reaper_ops *ops;
        void *owner;
        int64_t interval, timeout; /* ns; timeout < 0: never */
        bool stacks;
        VEC(struct watched_task) tasks;
};

int task_reaper_new(const struct fst_conf *conf, const struct task_reaper_ops *ops, void *owner,
                    struct task_reaper **reaper, struct fst_error *error)
{
        bool enabled, stacks;
        int64_t interval, timeout;
        int r;
        if ((r = conf_get_bool(conf, "spark.task.reaper.enabled", &enabled, error)) ||
            (r = conf_get_bool(conf, "spark.task.reaper.threadDump", &stacks, error)) ||
            (r = conf_get_ms(conf, "spark.task.reaper.pollingInterval", &interval, error)) ||
            (r = conf_get_ms(conf, "spark.task.reaper.killTimeout", &timeout, error)))
                return r;
        if (!enabled) {
                *reaper = NULL;
                return 0;
        }
        if (interval <= 0)
                return error_set(error, -EINVAL,
                                 "spark.task.reaper.pollingInterval is %" PRId64 " ms: it must be more than 0",
                                 interval);
        struct task_reaper *t = new0(struct task_reaper);
        *t = (struct task_reaper){.ops = ops,
                                  .owner = owner,
                                  .interval = interval * 1000000,
                                  .timeout = timeout < 0 ? -1 : timeout * 1000000,
                                  .stacks = stacks};
        *reaper = t;
        return 0;
}

void task_reaper_free(struct task_reaper *t)
{
        if (!t)
                return;
        vec_deinit(&t->tasks);
        free(t);
}

static int64_t next_look(const struct task_reaper *t, const struct watched_task *w, int64_t now)
{
        int64_t look = now + t->interval, end = w->since + t->timeout;
        return t->timeout >= 0 && end > now ? MIN(look, end) : look;
}

void task_reaper_killed(struct task_reaper *t, int slot, int64_t task_id, int64_t now)
{
        if (!t)
                return;
        for (size_t i = 0; i < t->tasks.len; i++)
                if (t->tasks.data[i].task_id == task_id)
                        return;
        struct watched_task w = {.slot = slot, .task_id = task_id, .since = now, .worker_killed = -1};
        w.look = next_look(t, &w, now);
        vec_push(&t->tasks, w);
}

void task_reaper_ended(struct task_reaper *t, int64_t task_id)
{
        for (size_t i = 0; t && i < t->tasks.len; i++) {
                if (t->tasks.data[i].task_id != task_id)
                        continue;
                t->tasks.data[i] = t->tasks.data[--t->tasks.len];
                return;
        }
}

int64_t task_reaper_deadline(const struct task_reaper *t)
{
        int64_t first = INT64_MAX;
        for (size_t i = 0; t && i < t->tasks.len; i++)
                first = MIN(first, t->tasks.data[i].look);
        return first;
}

/* Ends @w, whose time is over. Returns true if its process was killed. */
static bool end_watched_task(struct task_reaper *t, const struct watched_task *w, int64_t now, const char *what)
{
        if (t->ops->kill_worker(t->owner, w->slot, w->task_id)) {
                log_error("Executor",
                          "Killed task %" PRId64 " could not be stopped within %" PRId64
                          " ms (spark.task.reaper.killTimeout); killing its task process. %s",
                          w->task_id, (now - w->since) / 1000000, what);
                return true;
        }
        /* The process is gone, and its slot will report the end of the task, which a slow machine delays. */
        if (w->worker_killed >= 0 && now - w->worker_killed < t->timeout)
                return false;
        _cleanup_free_ char *reason =
                mem_printf("Killing executor because killed task %" PRId64 " could not be stopped within %" PRId64
                           " ms (spark.task.reaper.killTimeout). %s",
                           w->task_id, t->timeout / 1000000, what);
        log_error("Executor", "%s", reason);
        t->ops->end_executor(t->owner, reason);
        return false;
}

static void task_reaper_note_worker_killed(struct task_reaper *t, int64_t task_id, int64_t now)
{
        for (size_t i = 0; i < t->tasks.len; i++)
                if (t->tasks.data[i].task_id == task_id && t->tasks.data[i].worker_killed < 0)
                        t->tasks.data[i].worker_killed = now;
}

void task_reaper_tick(struct task_reaper *t, int64_t now)
{
        for (size_t i = 0; t && i < t->tasks.len; i++) {
                struct watched_task *w = &t->tasks.data[i];
                if (w->look > now)
                        continue;
                char what[4096] = "";
                int64_t elapsed = now - w->since;
                t->ops->describe(t->owner, w->slot, w->task_id, t->stacks, what, sizeof(what));
                w->look = next_look(t, w, now);
                if (t->timeout >= 0 && elapsed >= t->timeout) {
                        struct watched_task over = *w; /* the operation may change the list */
                        over.look = w->look = now + t->interval;
                        if (end_watched_task(t, &over, now, what))
                                task_reaper_note_worker_killed(t, over.task_id, now);
                        return;
                }
                log_warn("Executor", "Killed task %" PRId64 " is still running after %" PRId64 " ms. %s", w->task_id,
                         elapsed / 1000000, what);
        }
}
