/*
 * The application's requests for executors (include/firesteel/context.h): run on the scheduler's thread by its backend.
 */
#include "base/log.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "driver/job_runner.h"
#include "driver/backend/scheduler_backend.h"
#include "sched/allocation/executor_allocation.h"

#include <limits.h>

struct executor_call {
        enum { CALL_TOTAL, CALL_MORE, CALL_KILL } kind;
        int number;
        const char *const *ids;
        int result;
};

static void executor_call_run(void *owner, struct scheduler_backend *backend, bool allocates)
{
        struct executor_call *call = owner;
        struct executor_request request = {.target = call->number};
        if (!backend->class->request_executors) {
                log_warn("SparkContext", "Requesting executors is not supported by current scheduler.");
                call->result = -ENOTSUP;
                return;
        }
        switch (call->kind) {
        case CALL_TOTAL:
                call->result = backend->class->request_executors(backend, &request, 1) ? 0 : -EAGAIN;
                break;
        case CALL_MORE:
                call->result = backend->class->request_more(backend, call->number) ? 0 : -EAGAIN;
                break;
        case CALL_KILL:
                if (allocates)
                        log_error("SparkContext", "killExecutors() unsupported with Dynamic Allocation turned on");
                call->result = allocates ? -ENOTSUP : backend->class->kill_executors(backend, call->ids, call->number);
                break;
        }
}

static int executor_call_post(fst_context *context, struct executor_call call)
{
        _cleanup_(context_leave) fst_context *sc = context_enter(context);
        if (sc->status || !sc->runner)
                return sc->status ? sc->status : -ESHUTDOWN;
        if (call.number < 0)
                return -EINVAL;
        job_runner_call(sc->runner, executor_call_run, &call);
        return call.result;
}

FST_API int fst_request_total_executors(fst_context *sc, int executors)
{
        sc = context_given(sc, rdd_site("request_total_executors"));
        return executor_call_post(sc, (struct executor_call){.kind = CALL_TOTAL, .number = executors});
}

FST_API int fst_request_executors(fst_context *sc, int more)
{
        sc = context_given(sc, rdd_site("request_executors"));
        return executor_call_post(sc, (struct executor_call){.kind = CALL_MORE, .number = more});
}

FST_API int fst_kill_executors(fst_context *sc, const char *const *ids, size_t n)
{
        sc = context_given(sc, rdd_site("kill_executors"));
        for (size_t i = 0; i < n; i++)
                if (context_missing(ids, "kill_executors", "an array of ids") ||
                    context_missing(ids[i], "kill_executors", "an id"))
                        return -EINVAL;
        return executor_call_post(
                sc, (struct executor_call){.kind = CALL_KILL, .number = (int)MIN(n, (size_t)INT_MAX), .ids = ids});
}
