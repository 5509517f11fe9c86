/* Carries out the master's actions in the simulated world: messages to hosts, records, notifications of clients. */
#include "standalone/core/master_sim.h"

#include <stdlib.h>

struct master_world world;

/* Returns the receiver of the action, or NULL if its connection is lost, and the action with it. */
static struct master_sim_host *host_of(const struct master_action *a)
{
        struct master_sim_host *h = &world.hosts[a->worker->port];

        return h->up && a->peer != 0 && h->peer == a->peer && strcmp(h->id, a->worker->id) == 0 ? h : NULL;
}

static void sim_host_post(struct master_sim_host *h, struct letter letter)
{
        if (!h)
                return;
        HOLDS(h->n_inbox < INBOX);
        h->inbox[h->n_inbox++] = letter;
}

static void sim_store(const struct master_action *a)
{
        struct record *r = NULL;

        for (int i = 0; i < world.n_records && !r; i++)
                if (world.records[i].kind == a->record && strcmp(world.records[i].id, a->id) == 0)
                        r = &world.records[i];
        if (!r)
                r = &world.records[world.n_records++];
        HOLDS(world.n_records < RECORDS);
        *r = (struct record){.kind = a->record};
        snprintf(r->id, sizeof(r->id), "%s", a->id);
        if (a->record == MASTER_RECORD_WORKER)
                r->at = ((const struct master_worker *)a->object)->port;
        else if (a->record == MASTER_RECORD_APP)
                r->at = atoi(a->app->name);
        else
                r->at = atoi(a->driver->main_class);
        if (a->record == MASTER_RECORD_APP) {
                r->waiting = a->app->state == APP_WAITING_FOR_DRIVER;
                r->next_executor = a->app->stored_executors;
        }
        if (a->record == MASTER_RECORD_DRIVER)
                r->launched = a->driver->was_launched;
}

static void remove_record(const struct master_action *a)
{
        for (int i = 0; i < world.n_records; i++)
                if (world.records[i].kind == a->record && strcmp(world.records[i].id, a->id) == 0)
                        world.records[i--] = world.records[--world.n_records];
}

static void must_register_again(uint64_t peer)
{
        for (int i = 0; i < WORKERS; i++)
                if (world.hosts[i].peer == peer)
                        world.hosts[i].knows = false;
}

static void launch_executor(const struct master_action *a)
{
        const struct master_executor *e = a->executor;
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
        sim_host_post(host_of(a), l);
}

static void launch_driver(const struct master_action *a)
{
        struct letter l = {.kind = LETTER_DRIVER,
                           .what = {.id = -1, .cores = a->driver->cores, .memory = a->driver->memory, .gpu = -1}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", a->driver->id);
        world.launches++;
        sim_host_post(host_of(a), l);
}

static void kill_process(const struct master_action *a, enum letter_kind kind, int id)
{
        struct letter l = {.kind = kind, .what = {.id = id}};

        snprintf(l.what.owner, sizeof(l.what.owner), "%s", a->text);
        sim_host_post(host_of(a), l);
}

static void master_changed(const struct master_worker *mw)
{
        struct master_sim_host *h = &world.hosts[mw->port];

        if (!h->up || strcmp(h->id, mw->id) != 0)
                return;
        h->peer = ++world.next_peer;
        sim_host_post(h, (struct letter){.kind = LETTER_CHANGED});
}

static struct client *client_of(const struct master_app *app)
{
        return &world.clients[atoi(app->name) % APPS];
}

static void sim_registered(struct client *c, const struct master_app *app)
{
        world.resumed += c->spec.resume.epoch > 1 && strcmp(c->id, app->id) == 0;
        if (strcmp(c->id, app->id) != 0)
                c->next_executor = 0;
        snprintf(c->id, sizeof(c->id), "%s", app->id);
}

static void do_action(const struct master_action *a)
{
        switch (a->kind) {
        case MASTER_STORE:
                sim_store(a);
                break;
        case MASTER_REMOVE:
                remove_record(a);
                break;
        case MASTER_WORKER_REGISTERED:
                sim_host_post(host_of(a), (struct letter){.kind = LETTER_REGISTERED});
                break;
        case MASTER_WORKER_REFUSED:
        case MASTER_IN_STANDBY:
        case MASTER_RECONNECT_WORKER:
                must_register_again(a->peer);
                break;
        case MASTER_LAUNCH_EXECUTOR:
                launch_executor(a);
                break;
        case MASTER_KILL_EXECUTOR:
                kill_process(a, LETTER_KILL, a->executor_id);
                break;
        case MASTER_LAUNCH_DRIVER:
                launch_driver(a);
                break;
        case MASTER_KILL_DRIVER:
                kill_process(a, LETTER_KILL_DRIVER, -1);
                break;
        case MASTER_APP_REGISTERED:
                sim_registered(client_of(a->app), a->app);
                break;
        case MASTER_EXECUTOR_UPDATED:
                world.lost += a->state == EXECUTOR_LOST;
                break;
        case MASTER_EXECUTORS_DO_NOT_FIT:
                assert_true(*a->text != '\0');
                break;
        case MASTER_APP_REMOVED:
                client_of(a->app)->lives = false;
                break;
        case MASTER_APP_SUPERSEDED:
                world.superseded++;
                break;
        case MASTER_CHANGED_APP:
                client_of(a->app)->must_answer = true;
                break;
        case MASTER_CHANGED_WORKER:
                master_changed(a->worker);
                break;
        case MASTER_APP_FINISHED:
        case MASTER_EXECUTOR_ADDED:
        case MASTER_WORKER_REMOVED:
        case MASTER_LEADERSHIP_LOST:
        case MASTER_LOG_LINE:
                break;
        }
}

void world_run(void)
{
        for (const struct master_action *a; (a = master_next_action(world.m));)
                do_action(a);
}
