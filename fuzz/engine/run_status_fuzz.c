/*
 * Batches of tasks on the wire: outcomes that a driver reads for a launched batch, and launches that an executor reads.
 * The first byte chooses one, and the size of the batch. Accepted messages can be written again.
 */
#include "base/buf.h"
#include "base/error.h"
#include "exec/task/task_batch_wire.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rpc/control.pb-c.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void release_batch(struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                free(run->tasks[i].message);
                accumulator_updates_free(run->tasks[i].accumulated);
                buf_deinit(&run->tasks[i].encoded);
        }
        free(run);
}

static void read_statuses(const uint8_t *data, size_t size, int n)
{
        Firesteel__StatusUpdate *update = firesteel__status_update__unpack(NULL, size, data);
        struct task_batch *run = calloc(1, sizeof(*run));
        bool taken = false;
        run->n = n;
        for (int i = 0; i < n; i++)
                run->tasks[i].info.id = 7 + i;
        for (size_t i = 0; update && i < update->n_runs; i++) {
                struct fst_error error = FST_ERROR_INIT;
                if (!taken)
                        taken = task_batch_read_status(update->runs[i], run, &error) == 0;
                error_deinit(&error);
        }
        int64_t sum = 0;
        for (int i = 0; taken && i < n; i++) {
                const struct slot_task *t = &run->tasks[i];
                sum += t->run_ns + t->counters.run_ns + t->counters.input_bytes;
                if (t->finish_ms < t->start_ms || (t->state != TASK_SUCCEEDED && !t->message))
                        abort();
        }
        if (sum < 0)
                abort();
        release_batch(run);
        firesteel__status_update__free_unpacked(update, NULL);
}

static void read_launches(const uint8_t *data, size_t size, int slots)
{
        Firesteel__LaunchTasks *launch = firesteel__launch_tasks__unpack(NULL, size, data);
        for (size_t i = 0; launch && i < launch->n_runs; i++) {
                struct task_batch *run = calloc(1, sizeof(*run)), *again = calloc(1, sizeof(*again));
                struct fst_error error = FST_ERROR_INIT;
                struct buf bytes = BUF_INIT;
                if (task_batch_read_launch(launch->runs[i], slots, run, &error) == 0) {
                        if (run->slot < 0 || run->slot >= slots || run->n < 1 || run->n > MAX_TASK_BATCH)
                                abort();
                        task_batch_append_launch(run, &bytes);
                        Firesteel__LaunchTasks *l =
                                firesteel__launch_tasks__unpack(NULL, bytes.len, (uint8_t *)bytes.data);
                        if (!l || task_batch_read_launch(l->runs[0], slots, again, &error) ||
                            memcmp(run->tasks, again->tasks, (size_t)run->n * sizeof(run->tasks[0])) != 0)
                                abort();
                        firesteel__launch_tasks__free_unpacked(l, NULL);
                }
                error_deinit(&error);
                buf_deinit(&bytes);
                free(run);
                free(again);
        }
        firesteel__launch_tasks__free_unpacked(launch, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        if (data[0] & 1)
                read_launches(data + 1, size - 1, 1 + (data[0] >> 1) % 8);
        else
                read_statuses(data + 1, size - 1, 1 + (data[0] >> 1) % 8);
        return 0;
}
