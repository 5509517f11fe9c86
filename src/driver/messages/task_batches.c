/* See task_batches.h. */
#include "driver/messages/task_batches.h"

#include "base/mem.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "sched/sched.h"
#include "sched/tasks/task_set.h"

_Static_assert(1 << (TASK_BATCH_SIZES - 1) == MAX_TASK_BATCH, "the largest size is that of a full batch");

/* The least k with 2^k ≥ @n. */
static int task_batches_size(int n)
{
        return n == 1 ? 0 : 32 - __builtin_clz((unsigned)n - 1);
}

static struct task_batch *task_batches_alloc(struct task_batches *b, int n)
{
        int size = task_batches_size(n);
        struct task_batch *run = b->spare[size];
        if (run) {
                b->spare[size] = run->next;
                return run;
        }
        run = mem_alloc(offsetof(struct task_batch, tasks) + ((size_t)1 << size) * sizeof(run->tasks[0]));
        memset(run, 0, offsetof(struct task_batch, tasks)); /* tasks are zeroed as they are filled */
        return run;
}

struct task_batch *task_batches_take(struct task_batches *b, const struct task_set *set,
                                     const struct task_launch *launches, int n)
{
        struct task_batch *run = task_batches_alloc(b, n);
        run->n = n;
        run->crash_suspect = launches[0].crash_suspect; /* such a task runs alone */
        run->locality = launches[0].locality;
        run->speculative = launches[0].speculative;
        for (int i = 0; i < launches[0].n_resources; i++)
                task_resources_put(&run->resources, launches[0].resources[i].name, launches[0].resources[i].addresses,
                                   (size_t)launches[0].resources[i].n);
        for (int i = 0; i < n; i++) {
                struct slot_task *t = &run->tasks[i];
                memset(t, 0, sizeof(*t));
                t->info = (struct fst_task_info){.id = launches[i].task_id,
                                                 .stage = set->stage_id,
                                                 .stage_attempt = set->attempt,
                                                 .partition = launches[i].partition,
                                                 .attempt = launches[i].attempt};
                t->index = launches[i].index;
                t->output = launches[i].output;
        }
        return run;
}

void task_batches_return(struct task_batches *b, struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->message)
                        free(steal(t->message));
                if (t->encoded.data)
                        buf_deinit(&t->encoded);
                if (t->accumulated)
                        accumulator_updates_free(steal(t->accumulated));
        }
        stage_context_unref(steal(run->work));
        task_resources_deinit(&run->resources);
        int size = task_batches_size(run->n);
        run->next = b->spare[size];
        b->spare[size] = run;
}

void task_batches_deinit(struct task_batches *b)
{
        for (int size = 0; size < TASK_BATCH_SIZES; size++)
                while (b->spare[size]) {
                        struct task_batch *next = b->spare[size]->next;
                        free(b->spare[size]);
                        b->spare[size] = next;
                }
}
