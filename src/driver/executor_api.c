/*
 * The application's own wishes for executors (include/firesteel/context.h): done on the scheduler's thread, by its
 * backend.
 */
#include "base/log.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "driver/job_runner.h"
#include "driver/backend/scheduler_backend.h"
#include "sched/allocation/executor_allocation.h"

#include <limits.h>

struct wish {
        enum { WISH_TOTAL, WISH_MORE, WISH_KILL } kind;
        int number;
        const char *const *ids;
        int result;
};

static void fulfil(void *owner, struct scheduler_backend *backend, bool allocates)
{
        struct wish *w = owner;
        struct executor_request request = {.target = w->number};
        if (!backend->class->request_executors) {
                log_warn("SparkContext", "Requesting executors is not supported by current scheduler.");
                w->result = -ENOTSUP;
                return;
        }
        switch (w->kind) {
        case WISH_TOTAL:
                w->result = backend->class->request_executors(backend, &request, 1) ? 0 : -EAGAIN;
                break;
        case WISH_MORE:
                w->result = backend->class->request_more(backend, w->number) ? 0 : -EAGAIN;
                break;
        case WISH_KILL:
                if (allocates)
                        log_error("SparkContext", "killExecutors() unsupported with Dynamic Allocation turned on");
                w->result = allocates ? -ENOTSUP : backend->class->kill_executors(backend, w->ids, w->number);
                break;
        }
}

static int ask(fst_context *context, struct wish w)
{
        _cleanup_(context_leave) fst_context *sc = context_enter(context);
        if (sc->status || !sc->runner)
                return sc->status ? sc->status : -ESHUTDOWN;
        if (w.number < 0)
                return -EINVAL;
        job_runner_call(sc->runner, fulfil, &w);
        return w.result;
}

FST_API int fst_request_total_executors(fst_context *sc, int executors)
{
        sc = context_given(sc, rdd_site("request_total_executors"));
        return ask(sc, (struct wish){.kind = WISH_TOTAL, .number = executors});
}

FST_API int fst_request_executors(fst_context *sc, int more)
{
        sc = context_given(sc, rdd_site("request_executors"));
        return ask(sc, (struct wish){.kind = WISH_MORE, .number = more});
}

FST_API int fst_kill_executors(fst_context *sc, const char *const *ids, size_t n)
{
        sc = context_given(sc, rdd_site("kill_executors"));
        for (size_t i = 0; i < n; i++)
                if (context_missing(ids, "kill_executors", "an array of ids") ||
                    context_missing(ids[i], "kill_executors", "an id"))
                        return -EINVAL;
        return ask(sc, (struct wish){.kind = WISH_KILL, .number = (int)MIN(n, (size_t)INT_MAX), .ids = ids});
}
