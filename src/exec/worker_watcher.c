/* See worker_watcher.h. It has its own rpc env, because the executor's uses the application's secret. */
#include "exec/worker_watcher.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/security.h"
#include "rpc/rpc.h"

struct worker_watcher {
        uv_loop_t *loop;
        char *url;
        struct security *security;
        struct rpc_env *rpc;
        struct rpc_ref *worker;
        void (*lost)(void *owner); /* NULL: already called */
        void *owner;
        bool closed;
};

static void send_watch_message(struct worker_watcher *w)
{
        void (*lost)(void *owner) = steal(w->lost);
        if (lost)
                lost(w->owner);
}

static void worker_watcher_receive(void *owner, struct rpc_message *m)
{
        (void)owner;
        (void)m;
}

static void worker_watcher_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct worker_watcher *w = owner;
        (void)peer;
        if (w->lost)
                log_error("WorkerWatcher", "Lost connection to worker rpc endpoint %s. Exiting. (%s)", w->url, why);
        send_watch_message(w);
}

static const struct rpc_endpoint_class endpoint_class = {.receive = worker_watcher_receive,
                                                         .disconnected = worker_watcher_disconnected};

/* The worker does not reply. Sending is enough. */
static void on_watch_reply(void *owner, struct rpc_answer *answer)
{
        struct worker_watcher *w = owner;
        if (answer->peer) {
                log_info("WorkerWatcher", "Successfully connected to %s", w->url);
                return;
        }
        if (w->lost)
                log_error("WorkerWatcher", "Could not initialize connection to worker %s. Exiting. (%s)", w->url,
                          answer->message);
        send_watch_message(w);
}

static int worker_watcher_connect_to(struct worker_watcher *w, const struct fst_conf *conf, struct fst_error *error)
{
        struct rpc_options options;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(conf, "", SECURITY_EXECUTOR, &w->security, error)) ||
            (r = rpc_options_configure(&options, conf, error)))
                return r;
        options.name = "workerWatcher";
        options.security = w->security;
        if ((r = rpc_env_new(w->loop, &options, &w->rpc, error)) ||
            (r = rpc_env_register(w->rpc, "WorkerWatcher", &endpoint_class, w, error)) ||
            (r = rpc_env_ref(w->rpc, w->url, &w->worker, error)))
                return r;
        log_info("WorkerWatcher", "Connecting to worker %s", w->url);
        r = rpc_ask(w->worker, WORKER_WATCHER_MESSAGE, NULL, 0, NULL, 0, on_watch_reply, w);
        return r ? error_set(error, r, "cannot send to the worker at %s: %s", w->url, strerror(-r)) : 0;
}

int worker_watcher_new(uv_loop_t *loop, const struct fst_conf *conf, const char *url, void (*lost)(void *owner),
                       void *owner, struct worker_watcher **out, struct fst_error *error)
{
        struct worker_watcher *w = new0(struct worker_watcher);
        w->loop = loop;
        w->url = mem_strdup(url);
        w->lost = lost;
        w->owner = owner;
        int r = worker_watcher_connect_to(w, conf, error);
        if (r)
                worker_watcher_free(w);
        else
                *out = w;
        return r;
}

static void worker_watcher_rpc_closed(void *owner)
{
        *(bool *)owner = true;
}

void worker_watcher_free(struct worker_watcher *w)
{
        if (!w)
                return;
        w->lost = NULL;
        rpc_ref_unref(w->worker);
        if (w->rpc) {
                rpc_env_close(w->rpc, 0, worker_watcher_rpc_closed, &w->closed);
                while (!w->closed)
                        uv_run(w->loop, UV_RUN_ONCE);
        }
        security_free(w->security);
        free(w->url);
        free(w);
}
