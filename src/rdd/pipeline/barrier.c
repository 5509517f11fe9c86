/* Implements firesteel/barrier.h in tasks: each call sends a BarrierSync (rpc/control.proto) to the driver, which
 * replies when all tasks of the stage have sent theirs. */
#include <firesteel/barrier.h>

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/pipeline/task_services.h"
#include "rpc/control.pb-c.h"
#include "store/memory.h"

#include <stdio.h>

void task_run_release_barrier(struct task_run *run)
{
        Firesteel__BarrierReply *reply = steal(run->barrier_reply);
        if (reply)
                firesteel__barrier_reply__free_unpacked(reply, NULL);
}

/* Returns the driver's reply, which the caller frees, or NULL after the task has failed. */
static Firesteel__BarrierReply *barrier_sync_request(fst_task *task, Firesteel__BarrierSync__Method method,
                                                     fst_bytes message)
{
        struct task_run *run = task->run;
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__BarrierReply *reply = NULL;
        Firesteel__BarrierSync question = FIRESTEEL__BARRIER_SYNC__INIT;
        question.stage_id = task->info.stage;
        question.stage_attempt = task->info.stage_attempt;
        question.partition = task->info.partition;
        question.task_id = task->info.id;
        question.epoch = run->barrier_epoch;
        question.method = method;
        question.message = (ProtobufCBinaryData){message.len, (uint8_t *)message.data};
        size_t size = firesteel__barrier_sync__get_packed_size(&question), len = 0;
        _cleanup_free_ uint8_t *packed = mem_alloc(size + 1);
        _cleanup_free_ uint8_t *answer = NULL;
        firesteel__barrier_sync__pack(&question, packed);
        int r = run->services && run->services->barrier
                        ? run->services->barrier(run->services->owner, packed, size, task->stopped, &answer, &len,
                                                 &error)
                        : error_set(&error, -ENOTSUP, "barrier stages are not supported here");
        if (r == 0) {
                reply = firesteel__barrier_reply__unpack(NULL, len, answer);
                if (!reply)
                        r = error_set(&error, -EBADMSG, "cannot decode the driver's reply at a barrier");
        }
        if (task_run_stopped(run))
                task_run_cancelled(run);
        else if (r)
                fst_fail(task, "%s", error_message(&error));
        error_deinit(&error);
        return reply;
}

/* Passes the barrier. The attempt keeps the reply until the next barrier. */
static Firesteel__BarrierReply *barrier_pass(fst_task *task, Firesteel__BarrierSync__Method method, fst_bytes message)
{
        struct task_run *run = task->run;
        if (run->memory)
                memory_task_rest(run->memory, true);
        Firesteel__BarrierReply *reply = barrier_sync_request(task, method, message);
        if (run->memory)
                memory_task_rest(run->memory, false);
        if (!reply)
                return NULL;
        run->barrier_epoch++;
        task_run_release_barrier(run);
        return run->barrier_reply = reply;
}

FST_API int fst_barrier_wait(fst_task *task)
{
        if (task_run_missing(task, "fst_barrier_wait"))
                return -1;
        return barrier_pass(task, FIRESTEEL__BARRIER_SYNC__METHOD__BARRIER, (fst_bytes){"", 0}) ? 0 : -1;
}

FST_API int fst_barrier_all_gather(fst_task *task, fst_bytes message, fst_bytes *messages, size_t max)
{
        if (task_run_missing(task, "fst_barrier_all_gather") ||
            (max > 0 && task_run_missing_argument(task, messages, "fst_barrier_all_gather", "an array of messages")))
                return -1;
        const Firesteel__BarrierReply *reply = barrier_pass(task, FIRESTEEL__BARRIER_SYNC__METHOD__ALL_GATHER, message);
        if (!reply)
                return -1;
        for (size_t i = 0; i < max && i < reply->n_messages; i++)
                messages[i] = (fst_bytes){(const char *)reply->messages[i].data, reply->messages[i].len};
        return (int)reply->n_messages;
}

int task_run_barrier_addresses(struct task_run *run, struct buf *list)
{
        Firesteel__BarrierReply *reply =
                barrier_sync_request(&run->task, FIRESTEEL__BARRIER_SYNC__METHOD__ADDRESSES, (fst_bytes){"", 0});
        if (!reply)
                return run->status;
        for (size_t i = 0; i < reply->n_messages; i++)
                buf_printf(list, "%s%.*s", i ? "," : "", (int)reply->messages[i].len,
                           (const char *)reply->messages[i].data);
        firesteel__barrier_reply__free_unpacked(reply, NULL);
        return 0;
}

FST_API int fst_barrier_address(fst_task *task, int index, char *address)
{
        if (task_run_missing_argument(task, address, "fst_barrier_address", "a place for the address"))
                return -1;
        Firesteel__BarrierReply *reply =
                barrier_sync_request(task, FIRESTEEL__BARRIER_SYNC__METHOD__ADDRESSES, (fst_bytes){"", 0});
        if (!reply)
                return -1;
        int n = (int)reply->n_messages;
        if (index >= 0 && index < n)
                snprintf(address, FST_BARRIER_ADDRESS, "%.*s", (int)reply->messages[index].len,
                         (const char *)reply->messages[index].data);
        firesteel__barrier_reply__free_unpacked(reply, NULL);
        return index >= 0 && index < n ? n
                                       : fst_fail(task,
                                                  "the barrier stage has %d tasks, but the address of task %d "
                                                  "was requested",
                                                  n, index);
}
