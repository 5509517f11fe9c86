/*
 * The executor's side of task_gate.h. A task needs two things before it runs: the driver's launch and the gate's
 * permission. An entry is kept from whichever comes first until both have come and the task has ended.
 *
 * Invariant: `ended` is called once for each task that the gate has opened, after the driver was told; at once if the
 * gate kills a task that the driver has not sent.
 */
#include "exec/executor_internal.h"

#include "base/mem.h"
#include "exec/executor_stages.h"
#include "exec/task/slot_monitor.h"

#define MAX_EARLY_ENDS 4096 /* entries of tasks that ended without a permission; the oldest are dropped */

struct gated_task {
        int64_t id;
        struct task_batch *held; /* launched, and not yet permitted */
        bool open, killed, ended;
        enum task_gate_end how;
};

static struct gated_task *gated_task_find(struct executor *x, int64_t id)
{
        for (size_t i = 0; i < x->gated.len; i++)
                if (x->gated.data[i]->id == id)
                        return x->gated.data[i];
        return NULL;
}

static void gated_task_remove(struct executor *x, const struct gated_task *t)
{
        for (size_t i = 0; i < x->gated.len; i++) {
                if (x->gated.data[i] != t)
                        continue;
                free(x->gated.data[i]);
                memmove(&x->gated.data[i], &x->gated.data[i + 1], (x->gated.len - i - 1) * sizeof(x->gated.data[0]));
                x->gated.len--;
                return;
        }
}

static struct gated_task *gated_task_get(struct executor *x, int64_t id)
{
        struct gated_task *t = gated_task_find(x, id);
        if (t)
                return t;
        for (size_t i = 0; i < x->gated.len && x->gated.len >= MAX_EARLY_ENDS; i++)
                if (x->gated.data[i]->ended) {
                        gated_task_remove(x, x->gated.data[i]);
                        break;
                }
        t = new0(struct gated_task);
        t->id = id;
        vec_push(&x->gated, t);
        return t;
}

/* Runs a held batch; with `killed` its slot reports that it was killed. */
static void gated_task_release(struct executor *x, struct gated_task *t)
{
        struct task_batch *run = steal(t->held);
        if (run && t->killed)
                run->tasks[0].killed = 1;
        if (run)
                executor_stages_run(x->stages, run);
}

bool executor_gate_holds(struct executor *x, struct task_batch *run)
{
        if (!x->options->gate)
                return false;
        struct gated_task *t = gated_task_get(x, run->tasks[0].info.id);
        t->held = run;
        if (t->open || t->killed)
                gated_task_release(x, t);
        return true;
}

bool executor_gate_kills(struct executor *x, int64_t task_id)
{
        struct gated_task *t = gated_task_find(x, task_id);
        if (!t || !t->held)
                return false;
        t->killed = true;
        gated_task_release(x, t);
        return true;
}

void executor_gate_ended(struct executor *x, int64_t task_id, enum task_gate_end how)
{
        struct gated_task *t = gated_task_get(x, task_id);
        t->ended = true;
        t->how = how;
        if (!t->open)
                return;
        x->options->gate->class->ended(x->options->gate, task_id, how);
        gated_task_remove(x, t);
}

void executor_gate_free(struct executor *x)
{
        for (size_t i = 0; i < x->gated.len; i++) {
                if (x->gated.data[i]->held)
                        task_resources_deinit(&x->gated.data[i]->held->resources);
                free(x->gated.data[i]->held);
                free(x->gated.data[i]);
        }
        vec_deinit(&x->gated);
        vec_deinit(&x->gate_ends);
}

void task_gate_open(struct executor *x, int64_t task_id)
{
        struct gated_task *t = gated_task_get(x, task_id);
        if (t->ended) {
                x->options->gate->class->ended(x->options->gate, task_id, t->how);
                gated_task_remove(x, t);
                return;
        }
        t->open = true;
        gated_task_release(x, t);
}

/* The driver may never send the task. If it does, the entry lets the task end before it starts. */
static void gated_task_end_unsent(struct executor *x, struct gated_task *t)
{
        const bool open = t->open;
        t->ended = true;
        t->open = false;
        if (open)
                x->options->gate->class->ended(x->options->gate, t->id, TASK_GATE_KILLED);
}

void task_gate_kill(struct executor *x, int64_t task_id)
{
        struct gated_task *t = gated_task_find(x, task_id);
        if (!t || t->killed || t->ended)
                return;
        t->killed = true;
        int slot = executor_mark_killed(x, task_id);
        if (slot >= 0) {
                slot_monitor_killed(x->watch, slot, task_id, now_ns());
                slot_kill(x->slots[slot], task_id, true);
        } else if (t->held) {
                gated_task_release(x, t);
        } else if (!x->stages || !executor_stages_kill(x->stages, task_id)) {
                gated_task_end_unsent(x, t);
        }
}

void task_gate_end_executor(struct executor *x, int status)
{
        executor_end(x, status);
}
