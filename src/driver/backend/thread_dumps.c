/*
 * Takes the threads of the driver and of executors: job_runner_dump_threads (job_runner.h). An executor's answer comes
 * to the scheduler's thread, and the asking thread waits for it for a limited time. The request lives until both have
 * let it go.
 */
#include "driver/job_runner.h"

#include "base/buf.h"
#include "base/mem.h"
#include "driver/backend/scheduler_backend.h"
#include "exec/task/thread_dump_wire.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { ANSWER_S = 5 };

struct thread_dump_request {
        const char *executor; /* only while the asking thread hands it over */
        struct slot *const *slots;
        int n_slots;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        int n_refs; /* under lock, as the next ones */
        bool answered, has_dump;
        struct buf dump;
};

static void thread_dump_request_unref(struct thread_dump_request *request)
{
        pthread_mutex_lock(&request->lock);
        bool is_last = --request->n_refs == 0;
        pthread_mutex_unlock(&request->lock);
        if (!is_last)
                return;
        pthread_mutex_destroy(&request->lock);
        pthread_cond_destroy(&request->changed);
        buf_deinit(&request->dump);
        free(request);
}

static void thread_dump_request_answer(void *owner, const uint8_t *dump, size_t len)
{
        struct thread_dump_request *request = owner;
        pthread_mutex_lock(&request->lock);
        request->answered = true;
        request->has_dump = dump != NULL;
        if (dump)
                buf_append(&request->dump, dump, len);
        pthread_cond_signal(&request->changed);
        pthread_mutex_unlock(&request->lock);
        thread_dump_request_unref(request);
}

/* On the scheduler's thread. */
static void thread_dump_request_send(void *owner, struct scheduler_backend *backend, bool allocates)
{
        struct thread_dump_request *request = owner;
        if (!backend->class->ask_threads ||
            !backend->class->ask_threads(backend, request->executor, thread_dump_request_answer, request))
                thread_dump_request_answer(request, NULL, 0);
}

static bool thread_dumps_ask(struct job_runner *runner, const char *executor, struct buf *out)
{
        struct thread_dump_request *request = new0(struct thread_dump_request);
        struct timespec until;
        *request = (struct thread_dump_request){.executor = executor, .n_refs = 2};
        pthread_mutex_init(&request->lock, NULL);
        pthread_cond_init(&request->changed, NULL);
        job_runner_call(runner, thread_dump_request_send, request);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += ANSWER_S;
        int r = 0;
        pthread_mutex_lock(&request->lock);
        while (!request->answered && r == 0)
                r = pthread_cond_clockwait(&request->changed, &request->lock, CLOCK_MONOTONIC, &until);
        bool has_dump = request->has_dump;
        if (has_dump)
                buf_append(out, request->dump.data, request->dump.len);
        pthread_mutex_unlock(&request->lock);
        thread_dump_request_unref(request);
        return has_dump;
}

/* On the scheduler's thread. */
static void thread_dump_request_find_slots(void *owner, struct scheduler_backend *backend, bool allocates)
{
        struct thread_dump_request *request = owner;
        if (backend->class->slots)
                request->slots = backend->class->slots(backend, &request->n_slots);
}

bool job_runner_dump_threads(struct job_runner *runner, const char *executor, struct buf *out)
{
        if (strcmp(executor, "driver") != 0)
                return thread_dumps_ask(runner, executor, out);
        struct thread_dump_request request = {0};
        job_runner_call(runner, thread_dump_request_find_slots, &request);
        thread_dump_encode(request.slots, request.n_slots, out);
        return true;
}
