/* What the master asks the world for: letters to hosts, records of what lives, and what its clients hear of it. */
#include "standalone/core/master_sim.h"

#include <stdlib.h>

struct world world;

static struct host *host_of(const struct master_worker *mw)
{
        struct host *h = &world.hosts[mw->port];

        return h->up && mw->peer != 0 && h->peer == mw->peer && strcmp(h->id, mw->id) == 0 ? h : NULL;
}

static void post(struct host *h, struct letter letter)
{
        if (!h)
                return; /* lost with its connection */
        HOLDS(h->n_inbox < INBOX);
        h->inbox[h->n_inbox++] = letter;
}

static void w_store(void *owner, enum master_record kind, const char *id, const void *object)
{
        struct record *r = NULL;

        for (int i = 0; i < world.n_records && !r; i++)
                if (world.records[i].kind == kind && strcmp(world.records[i].id, id) == 0)
                        r = &world.records[i];
        if (!r)
                r = &world.records[world.n_records++];
        HOLDS(world.n_records < RECORDS);
        *r = (struct record){.kind = kind};
        snprintf(r->id, sizeof(r->id), "%s", id);
        if (kind == MASTER_RECORD_WORKER)
                r->at = ((const struct master_worker *)object)->port;
        else if (kind == MASTER_RECORD_APP)
                r->at = atoi(((const struct master_app *)object)->name);
        else
                r->at = atoi(((const struct master_driver *)object)->main_class);
        if (kind == MASTER_RECORD_DRIVER)
                r->launched = ((const struct master_driver *)object)->was_launched;
}

static void w_remove(void *owner, enum master_record kind, const char *id)
{
        for (int i = 0; i < world.n_records; i++)
                if (world.records[i].kind == kind && strcmp(world.records[i].id, id) == 0)
                        world.records[i--] = world.records[--world.n_records];
}

static void w_worker_registered(void *owner, const struct master_worker *mw, bool again)
{
        post(host_of(mw), (struct letter){.kind = LETTER_REGISTERED});
}

static void w_peer(void *owner, uint64_t peer)
{
        for (int i = 0; i < WORKERS; i++)
                if (world.hosts[i].peer == peer)
                        world.hosts[i].knows = false; /* it will register again */
}

static void w_refused(void *owner, uint64_t peer, const char *message)
{
        w_peer(owner, peer);
}

static void w_launch_executor(void *owner, const struct master_executor *e)
{
        struct letter l = {.kind = LETTER_LAUNCH,
                           .what = {.id = e->id,
                                    .cores = e->cores,
                                    .memory = e->memory,
                                    .gpu = e->n_holds ? e->holds[0].addresses[0] : -1}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", e->app->id);
        world.launches++;
        HOLDS(e->profile->executors <= e->profile->target);
        HOLDS(e->app->cores_granted <= e->app->cores_limit);
        HOLDS(e->worker->state == WORKER_ALIVE);
        HOLDS(e->profile->cores == 0 || e->cores == e->profile->cores);
        for (int i = 0; i < APPS; i++)
                if (world.clients[i].lives && strcmp(world.clients[i].id, e->app->id) == 0) {
                        HOLDS(e->id >= world.clients[i].next_executor); /* an id is never used twice */
                        world.clients[i].next_executor = e->id + 1;
                }
        post(host_of(e->worker), l);
}

static void w_kill_executor(void *owner, const struct master_worker *mw, const char *app_id, int executor)
{
        struct letter l = {.kind = LETTER_KILL, .what = {.id = executor}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", app_id);
        post(host_of(mw), l);
}

static void w_launch_driver(void *owner, const struct master_driver *d)
{
        struct letter l = {.kind = LETTER_DRIVER,
                           .what = {.id = -1, .cores = d->cores, .memory = d->memory, .gpu = -1}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", d->id);
        world.launches++;
        post(host_of(d->worker), l);
}

static void w_kill_driver(void *owner, const struct master_worker *mw, const char *driver_id)
{
        struct letter l = {.kind = LETTER_KILL_DRIVER, .what = {.id = -1}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", driver_id);
        post(host_of(mw), l);
}

static struct client *client_of(const struct master_app *app)
{
        return &world.clients[atoi(app->name) % APPS];
}

static void w_app_registered(void *owner, const struct master_app *app, bool again)
{
        snprintf(client_of(app)->id, sizeof(client_of(app)->id), "%s", app->id);
}

static void w_executors_do_not_fit(void *owner, const struct master_app *app, const char *message)
{
        assert_true(*message != '\0');
}

static void w_app_removed(void *owner, const struct master_app *app)
{
        client_of(app)->lives = false;
}

static void w_updated(void *owner, const struct master_executor *e, const char *message, const int *status,
                      const char *host)
{
        world.lost += e->state == EXECUTOR_LOST;
}

static void w_changed_app(void *owner, const struct master_app *app)
{
        client_of(app)->must_answer = true;
}

static void w_changed_worker(void *owner, const struct master_worker *mw)
{
        struct host *h = &world.hosts[mw->port];

        if (!h->up || strcmp(h->id, mw->id) != 0)
                return;
        h->peer = ++world.next_peer;
        post(h, (struct letter){.kind = LETTER_CHANGED});
}

static void w_nothing(void *owner, const struct master_app *app)
{
}

static void w_added(void *owner, const struct master_executor *e)
{
}

static void w_worker_removed(void *owner, const struct master_app *a, const struct master_worker *mw, const char *why)
{
}

static void w_leadership(void *owner)
{
}

static void w_log(void *owner, enum log_level level, const char *line)
{
}

const struct master_ops world_ops = {
        .store = w_store,
        .remove = w_remove,
        .worker_registered = w_worker_registered,
        .worker_refused = w_refused,
        .in_standby = w_peer,
        .reconnect_worker = w_peer,
        .launch_executor = w_launch_executor,
        .kill_executor = w_kill_executor,
        .launch_driver = w_launch_driver,
        .kill_driver = w_kill_driver,
        .app_finished = w_nothing,
        .app_registered = w_app_registered,
        .executor_added = w_added,
        .executor_updated = w_updated,
        .worker_removed = w_worker_removed,
        .executors_do_not_fit = w_executors_do_not_fit,
        .app_removed = w_app_removed,
        .master_changed_app = w_changed_app,
        .master_changed_worker = w_changed_worker,
        .leadership_lost = w_leadership,
        .log = w_log,
};
