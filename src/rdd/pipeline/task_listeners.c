/* See task_listeners.h. As in Spark, all listeners are called even if one fails, and a listener's failure fails a
 * successful task. */
#include "rdd/pipeline/task_listeners.h"

#include "base/log.h"
#include "base/mem.h"

struct task_listener {
        struct task_listener *next; /* the listener added before this one */
        int (*completed)(fst_task *task, void *data);
        int (*failed)(fst_task *task, void *data, const char *message);
        void *data;
};

static void task_listeners_add(struct task_listener **list, struct task_listener listener)
{
        struct task_listener *l = mem_alloc(sizeof(*l));
        listener.next = *list;
        *l = listener;
        *list = l;
}

FST_API void fst_task_on_completion(fst_task *task, int (*f)(fst_task *task, void *data), void *data)
{
        if (!task_run_missing_argument(task, (const void *)f, "fst_task_on_completion", "a function"))
                task_listeners_add(&task->run->on_completion, (struct task_listener){.completed = f, .data = data});
}

FST_API void fst_task_on_failure(fst_task *task, int (*f)(fst_task *task, void *data, const char *message), void *data)
{
        if (!task_run_missing_argument(task, (const void *)f, "fst_task_on_failure", "a function"))
                task_listeners_add(&task->run->on_failure, (struct task_listener){.failed = f, .data = data});
}

static void task_listeners_call(struct task_run *run, const struct task_listener *l, const char *message)
{
        const char *outer = task_run_enter(run, "a listener of the task");
        int before = run->status;
        int r = l->completed ? l->completed(&run->task, l->data) : l->failed(&run->task, l->data, message);
        if (r && before) /* the first message counts */
                log_error("Executor", "a listener of task %lld returned %d", (long long)run->task.info.id, r);
        else if (r)
                task_run_fail_by(run, r, run->function);
        task_run_leave(run, outer);
}

static void task_listeners_call_all(struct task_run *run, struct task_listener **list, const char *message)
{
        while (*list) {
                struct task_listener *l = *list;
                *list = l->next;
                task_listeners_call(run, l, message);
                free(l);
        }
}

int task_run_call_listeners(struct task_run *run, int status)
{
        if (likely(!run->on_failure && !run->on_completion))
                return status;
        run->task.captured = NULL;
        if (status) {
                _cleanup_free_ char *message = mem_strdup(error_message(&run->error));
                task_listeners_call_all(run, &run->on_failure, message);
        }
        task_listeners_call_all(run, &run->on_completion, NULL);
        while (run->on_failure) { /* the task succeeded: drop these */
                struct task_listener *next = run->on_failure->next;
                free(run->on_failure);
                run->on_failure = next;
        }
        return status ? status : run->status;
}
