/* See rpc_thread.h. */
#include "hadoop/rpc_thread.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "numa/numa_nodes.h"

#include <pthread.h>

struct queued_rpc_call {
        struct hadoop_rpc_call call;
        struct buf request;
};

struct queued_rpc_calls {
        VEC(struct queued_rpc_call) list;
};

struct hadoop_rpc_thread {
        pthread_t thread;
        bool quiet;
        uv_loop_t loop; /* these two belong to the thread once it runs */
        struct hadoop_rpc_client *client;
        uv_async_t wake;
        pthread_mutex_t lock;
        struct queued_rpc_calls queued; /* these two are guarded by `lock` */
        bool stopping;
};

/* Gives the queued calls to the client. Returns how many there were, and sets @stopping. */
static size_t rpc_thread_start_calls(struct hadoop_rpc_thread *t, bool *stopping)
{
        pthread_mutex_lock(&t->lock);
        struct queued_rpc_calls taken = t->queued;
        t->queued = (struct queued_rpc_calls){0};
        *stopping = t->stopping;
        pthread_mutex_unlock(&t->lock);
        const size_t n = taken.list.len;
        for (size_t i = 0; i < n; i++)
                hadoop_rpc_client_call_packed(t->client, &taken.list.data[i].call, &taken.list.data[i].request);
        vec_deinit(&taken.list);
        return n;
}

static void on_rpc_thread_wake(uv_async_t *wake)
{
        struct hadoop_rpc_thread *t = wake->data;
        bool stopping;
        rpc_thread_start_calls(t, &stopping);
        if (!stopping || uv_is_closing((uv_handle_t *)wake))
                return;
        do /* `done` may call again */
                hadoop_rpc_client_cancel(t->client);
        while (rpc_thread_start_calls(t, &stopping) > 0);
        hadoop_rpc_client_free(t->client);
        uv_close((uv_handle_t *)wake, NULL);
}

static void *rpc_thread_main(void *context)
{
        struct hadoop_rpc_thread *t = context;
        log_set_quiet(t->quiet);
        uv_run(&t->loop, UV_RUN_DEFAULT);
        return NULL;
}

static void rpc_thread_release(struct hadoop_rpc_thread *t)
{
        uv_loop_close(&t->loop);
        pthread_mutex_destroy(&t->lock);
        free(t);
}

int hadoop_rpc_thread_new(hadoop_rpc_connect connect, void *owner, struct hadoop_rpc_thread **out,
                          struct fst_error *error)
{
        struct hadoop_rpc_thread *t = new0(struct hadoop_rpc_thread);
        pthread_mutex_init(&t->lock, NULL);
        uv_loop_init(&t->loop);
        int r = connect(owner, &t->loop, &t->client, error);
        if (r < 0) {
                rpc_thread_release(t);
                return r;
        }
        uv_async_init(&t->loop, &t->wake, on_rpc_thread_wake);
        t->wake.data = t;
        t->quiet = log_set_quiet(true);
        log_set_quiet(t->quiet);
        r = -numa_create_thread(&t->thread, NULL, rpc_thread_main, t);
        if (r < 0) {
                t->stopping = true;
                on_rpc_thread_wake(&t->wake);
                uv_run(&t->loop, UV_RUN_DEFAULT);
                rpc_thread_release(t);
                return error_set(error, r, "starting a thread: %s", strerror(-r));
        }
        *out = t;
        return 0;
}

void hadoop_rpc_thread_call(struct hadoop_rpc_thread *t, const struct hadoop_rpc_call *call, struct buf *request)
{
        const struct queued_rpc_call queued = {.call = *call, .request = *request};
        *request = BUF_INIT;
        pthread_mutex_lock(&t->lock);
        const bool first = t->queued.list.len == 0;
        vec_push(&t->queued.list, queued);
        pthread_mutex_unlock(&t->lock);
        if (first)
                uv_async_send(&t->wake);
}

void hadoop_rpc_thread_free(struct hadoop_rpc_thread *t)
{
        if (!t)
                return;
        pthread_mutex_lock(&t->lock);
        t->stopping = true;
        pthread_mutex_unlock(&t->lock);
        uv_async_send(&t->wake);
        pthread_join(t->thread, NULL);
        rpc_thread_release(t);
}
