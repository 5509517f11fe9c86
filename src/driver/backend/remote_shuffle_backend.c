/*
 * The driver's side of map outputs outside of executors: which implementation the configuration asks for, and the
 * questions of executors to it. On the scheduler's thread.
 */
#include "driver/backend/cluster_backend_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "celeborn/lifecycle/celeborn_driver.h"
#include "driver/context.h"
#include "rpc/control.pb-c.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_manager.h"

static void cluster_remote_shuffle_on_wake(void *owner)
{
        struct cluster_backend *b = owner;
        uv_async_send(&b->wake);
}

static void cluster_remote_shuffle_on_dropped(void *owner, void *asker)
{
        rpc_call_fail(asker, "the application is ending");
}

static void cluster_remote_shuffle_journal(void *owner, const void *record, size_t size, bool strict)
{
        const struct cluster_backend *b = owner;
        job_runner_journal_remote(b->runner, record, size, strict);
}

static bool cluster_remote_shuffle_may_remove(void *owner)
{
        const struct cluster_backend *b = owner;
        return job_runner_may_remove(b->runner);
}

int cluster_remote_shuffle_start(struct cluster_backend *b, struct fst_error *error)
{
        struct celeborn_driver_options options = {.conf = b->sc->conf,
                                                  .app_id = b->sc->app_id,
                                                  .wake = cluster_remote_shuffle_on_wake,
                                                  .dropped = cluster_remote_shuffle_on_dropped,
                                                  .may_remove = cluster_remote_shuffle_may_remove,
                                                  .other_secret = b->made_secret,
                                                  .owner = b};
        enum shuffle_manager manager;
        int r = shuffle_manager_read(b->sc->conf, &manager, error);
        if (r)
                return r;
        if (manager != SHUFFLE_MANAGER_CELEBORN)
                return job_runner_open_store(b->runner, error);
        if (conf_get_raw(b->sc->conf, "spark.firesteel.shuffle.store"))
                log_warn("SparkContext", "spark.firesteel.shuffle.store has no effect: spark.shuffle.manager puts map "
                                         "outputs into Celeborn");
        if (b->io_secret_len > 0)
                return error_set(
                        error, -ENOTSUP,
                        "spark.io.encryption.enabled is true, but Celeborn would store map outputs in the clear: "
                        "set it to false, or spark.shuffle.manager to sort");
        options.epoch = job_runner_earlier_remote(b->runner, &options.earlier, &options.n_earlier);
        if (options.epoch)
                options.journal = cluster_remote_shuffle_journal;
        if ((r = celeborn_driver_new(&options, &b->sc->remote_shuffle, error)))
                return r;
        conf_set(b->sc->conf, CELEBORN_APP_KEY, b->sc->remote_shuffle->class->directory(b->sc->remote_shuffle));
        return 0;
}

void cluster_remote_shuffle_ask(struct cluster_backend *b, struct rpc_message *m)
{
        struct remote_shuffle_driver *remote = b->sc->remote_shuffle;
        struct fst_error error = FST_ERROR_INIT;
        if (!m->ask)
                return;
        if (!remote || !remote->class->ask) {
                rpc_fail(m, "the application's map outputs are not in Celeborn");
                return;
        }
        struct rpc_call *call = rpc_message_defer(m);
        if (remote->class->ask(remote, m->body, m->len, call, &error))
                rpc_call_fail(call, "%s", error_message(&error));
        error_deinit(&error);
}

void cluster_remote_shuffle_reply(struct cluster_backend *b)
{
        struct remote_shuffle_driver *remote = b->sc->remote_shuffle;
        struct buf bytes;
        void *call;
        while (remote && remote->class->next_reply && remote->class->next_reply(remote, &call, &bytes)) {
                rpc_call_reply(call, FIRESTEEL__CONTROL_TYPE__CELEBORN_ASK, bytes.data, bytes.len, NULL);
                buf_deinit(&bytes);
        }
}
