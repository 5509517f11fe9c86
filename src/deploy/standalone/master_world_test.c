/*
 * The master in a random world: workers that come, die and are cut off, applications that change their minds, drivers,
 * messages that wait or are lost with their connection, masters that end and are followed by another from what was
 * stored. A seed makes a world and shows a failure again. After every event it holds that
 *
 *      no worker gives more cores, memory or addresses than it has, and its sums are those of what is on it;
 *      no application has more cores than it may, and none was launched an executor beyond what it asked for;
 *      what is stored is what lives: applications, drivers, workers that are not decommissioned;
 *      no application that lives and no supervised driver is forgotten, and no driver is there twice;
 *      after a pass nothing waits that some worker has room for (all are looked at, as Spark's Master does);
 * and, when the faults have stopped, that what runs is what the master has, and that nothing runs when all has ended.
 */
#include "deploy/standalone/master_fixture.h"

#include <stdlib.h>
#include <time.h>

enum { WORKERS = 8, APPS = 6, TOKENS = 64, PROCESSES = 64, INBOX = 256, RECORDS = 256, STEPS = 350, SEEDS = 250 };

enum letter_kind { LETTER_REGISTERED, LETTER_CHANGED, LETTER_LAUNCH, LETTER_KILL, LETTER_DRIVER, LETTER_KILL_DRIVER };

struct process {
        char owner[40]; /* application or driver */
        int id;         /* -1: a driver */
        int cores, gpu; /* gpu: the address; -1: none */
        int64_t memory;
        bool running;
};

struct letter {
        enum letter_kind kind;
        struct process what;
};

struct host {
        char id[32];
        int generation, cores, gpus;
        int64_t memory;
        bool up, knows;          /* knows: it was registered over this connection */
        uint64_t peer, old_peer; /* 0: not connected; a connection whose end is not yet noticed */
        struct process processes[PROCESSES];
        int n_processes;
        struct letter inbox[INBOX];
        int n_inbox;
};

struct client {
        char id[40], address[32];
        bool lives, must_answer;
        uint64_t peer;
        struct app_spec spec;
        struct executor_target targets[2];
        int next_executor;
};

struct record {
        enum master_record kind;
        char id[40];
        int at; /* host, client or token */
        bool launched;
};

struct world {
        uint64_t random, seed, next_peer;
        int64_t now;
        struct master *m;
        struct host hosts[WORKERS];
        struct client clients[APPS];
        int n_clients_ever;
        bool supervised[TOKENS], over[TOKENS];
        int n_tokens;
        struct record records[RECORDS];
        int n_records;
        int64_t launches, lost, masters;
};

static struct world w;
static const struct resource_need one_gpu = {"gpu", 1};
static const char *const gpu_names[] = {"0", "1", "2", "3"};

static unsigned roll(unsigned n)
{
        return (unsigned)(object_hash_number(w.random += 0x9e3779b97f4a7c15u) % n);
}

#define HOLDS(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %d, line %d: %s", (int)w.seed, __LINE__, #condition);                           \
        } while (0)

/* --------------------------------------------------------------------------------- what the master asks for */

static struct host *host_of(const struct master_worker *mw)
{
        struct host *h = &w.hosts[mw->port];

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

        for (int i = 0; i < w.n_records && !r; i++)
                if (w.records[i].kind == kind && strcmp(w.records[i].id, id) == 0)
                        r = &w.records[i];
        if (!r)
                r = &w.records[w.n_records++];
        HOLDS(w.n_records < RECORDS);
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
        for (int i = 0; i < w.n_records; i++)
                if (w.records[i].kind == kind && strcmp(w.records[i].id, id) == 0)
                        w.records[i--] = w.records[--w.n_records];
}

static void w_worker_registered(void *owner, const struct master_worker *mw, bool again)
{
        post(host_of(mw), (struct letter){.kind = LETTER_REGISTERED});
}

static void w_peer(void *owner, uint64_t peer)
{
        for (int i = 0; i < WORKERS; i++)
                if (w.hosts[i].peer == peer)
                        w.hosts[i].knows = false; /* it will register again */
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
        w.launches++;
        HOLDS(e->profile->executors <= e->profile->target);
        HOLDS(e->app->cores_granted <= e->app->cores_limit);
        HOLDS(e->worker->state == WORKER_ALIVE);
        HOLDS(e->profile->cores == 0 || e->cores == e->profile->cores);
        for (int i = 0; i < APPS; i++)
                if (w.clients[i].lives && strcmp(w.clients[i].id, e->app->id) == 0) {
                        HOLDS(e->id >= w.clients[i].next_executor); /* an id is never used twice */
                        w.clients[i].next_executor = e->id + 1;
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
        w.launches++;
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
        return &w.clients[atoi(app->name) % APPS];
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
        w.lost += e->state == EXECUTOR_LOST;
}

static void w_changed_app(void *owner, const struct master_app *app)
{
        client_of(app)->must_answer = true;
}

static void w_changed_worker(void *owner, const struct master_worker *mw)
{
        struct host *h = &w.hosts[mw->port];

        if (!h->up || strcmp(h->id, mw->id) != 0)
                return;
        h->peer = ++w.next_peer;
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

static const struct master_ops world_ops = {
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

/* ---------------------------------------------------------------------------------------------- invariants */

static void check_worker(const struct master_worker *mw)
{
        int cores = 0, addresses = 0, executors = 0, drivers = 0;
        int64_t memory = 0;

        for (const struct master_executor *e = mw->executors; e; e = e->next_on_worker, executors++) {
                HOLDS(e->worker == mw && !executor_state_is_finished(e->state));
                cores += e->cores;
                memory += e->memory;
                for (int i = 0; i < e->n_holds; i++)
                        addresses += e->holds[i].n;
        }
        for (const struct master_driver *d = mw->drivers; d; d = d->next_on_worker, drivers++) {
                cores += d->cores;
                memory += d->memory;
        }
        HOLDS(cores == mw->cores_used && cores <= mw->cores);
        HOLDS(memory == mw->memory_used && memory <= mw->memory);
        HOLDS(executors == mw->n_executors && drivers == mw->n_drivers);
        if (mw->n_resources) {
                int used = 0;

                for (int i = 0; i < mw->resources[0].n; i++)
                        used += mw->resources[0].used[i];
                HOLDS(used == addresses && mw->resources[0].free == mw->resources[0].n - used);
        }
        HOLDS((mw->state == WORKER_ALIVE) == mw->node.inside);
}

static void check_records(void)
{
        int expected = w.m->n_apps + w.m->n_drivers;

        for (const struct master_worker *mw = w.m->workers; mw; mw = mw->next)
                expected += mw->state != WORKER_DECOMMISSIONED;
        HOLDS(w.n_records == expected);
        for (int i = 0; i < w.n_records; i++) {
                const char *id = w.records[i].id;

                switch (w.records[i].kind) {
                case MASTER_RECORD_APP:
                        HOLDS(master_app(w.m, id));
                        break;
                case MASTER_RECORD_DRIVER:
                        HOLDS(master_driver(w.m, id));
                        HOLDS(master_driver(w.m, id)->was_launched == w.records[i].launched);
                        break;
                case MASTER_RECORD_WORKER:
                        HOLDS(master_worker(w.m, id));
                }
        }
}

static void check(void)
{
        size_t n_alive = 0;

        for (const struct master_worker *mw = w.m->workers; mw; mw = mw->next) {
                check_worker(mw);
                n_alive += mw->state == WORKER_ALIVE;
        }
        HOLDS(n_alive == w.m->alive.len);
        for (const struct master_app *app = w.m->apps; app; app = app->next) {
                int cores = 0, running = 0, n = 0;

                for (const struct master_executor *e = app->executors; e; e = e->next_in_app) {
                        HOLDS(!e->left || e->worker);
                        cores += e->left ? 0 : e->cores;
                        n += !e->left;
                        running += !e->left && e->state == EXECUTOR_RUNNING;
                }
                HOLDS(cores == app->cores_granted && running == app->n_running && n == app->n_executors);
        }
        check_records();
        for (int i = 0; i < APPS; i++)
                HOLDS(!w.clients[i].lives || master_app(w.m, w.clients[i].id));
        int times[TOKENS] = {0};

        for (const struct master_driver *d = w.m->drivers; d; d = d->next)
                times[atoi(d->main_class)]++;
        for (int i = 0; i < w.n_tokens; i++) {
                HOLDS(times[i] <= 1);
                HOLDS(times[i] == 1 || w.over[i] || !w.supervised[i]);
        }
}

/* After a pass: what Spark would still launch, looking at everything. */
static void nothing_waits_in_vain(void)
{
        if (w.m->status != MASTER_ALIVE)
                return;
        for (const struct master_worker *mw = w.m->workers; mw; mw = mw->next) {
                if (mw->state != WORKER_ALIVE)
                        continue;
                for (const struct master_app *app = w.m->apps; app; app = app->next)
                        for (size_t i = 0; i < app->profiles.len; i++) {
                                const struct app_profile *p = app->profiles.data[i];

                                HOLDS(!p->known || p->executors >= p->target ||
                                      app_cores_left(app) < MAX(p->cores, 1) ||
                                      !worker_has(mw, MAX(p->cores, 1), p->memory, &p->needs));
                        }
                for (const struct master_driver *d = w.m->drivers; d; d = d->next)
                        HOLDS(!d->waiting || !worker_has(mw, d->cores, d->memory, &d->needs) ||
                              w.m->n_drivers - w.m->n_waiting_drivers >= w.m->config.max_drivers);
        }
}

/* ------------------------------------------------------------------------------------------ what happens */

static struct worker_spec spec_of(const struct host *h)
{
        static struct resource_addresses gpus[WORKERS];
        int at = (int)(h - w.hosts);

        gpus[at] = (struct resource_addresses){"gpu", gpu_names, h->gpus};
        return (struct worker_spec){.id = h->id,
                                    .host = "h",
                                    .port = at,
                                    .cores = h->cores,
                                    .memory = h->memory,
                                    .resources = &gpus[at],
                                    .n_resources = h->gpus > 0};
}

static void connect_and_register(struct host *h)
{
        struct worker_spec spec = spec_of(h);

        h->peer = ++w.next_peer;
        h->n_inbox = 0;
        h->knows = true;
        master_register_worker(w.m, h->peer, &spec, w.now);
}

static void start(struct host *h)
{
        h->up = true;
        h->n_processes = h->n_inbox = 0;
        h->cores = 1 + (int)roll(12);
        h->memory = 1024 * (1 + roll(8));
        h->gpus = roll(3) ? 0 : 1 + (int)roll(4);
        snprintf(h->id, sizeof(h->id), "w-%d-%d", (int)(h - w.hosts), h->generation++);
        connect_and_register(h);
}

/* The end of a connection, which the master may notice later. */
static void cut(struct host *h)
{
        if (h->peer && !h->old_peer)
                h->old_peer = h->peer;
        h->peer = 0;
        h->knows = false;
        h->n_inbox = 0;
}

static void notice(struct host *h)
{
        if (h->old_peer)
                master_worker_disconnected(w.m, h->old_peer, h->id, w.now);
        h->old_peer = 0;
}

static void report(struct host *h)
{
        struct executor_report executors[PROCESSES];
        struct driver_report drivers[PROCESSES];
        struct resource_addresses gpus[PROCESSES];
        const char *names[PROCESSES];
        int n = 0, d = 0;

        for (int i = 0; i < h->n_processes; i++) {
                const struct process *p = &h->processes[i];

                if (p->id < 0) {
                        drivers[d++] = (struct driver_report){.id = p->owner};
                        continue;
                }
                names[n] = p->gpu >= 0 ? gpu_names[p->gpu] : NULL;
                gpus[n] = (struct resource_addresses){"gpu", &names[n], 1};
                executors[n] = (struct executor_report){.app_id = p->owner,
                                                        .id = p->id,
                                                        .profile = p->gpu >= 0,
                                                        .cores = p->cores,
                                                        .memory = p->memory,
                                                        .state = p->running ? EXECUTOR_RUNNING : EXECUTOR_LAUNCHING,
                                                        .resources = &gpus[n],
                                                        .n_resources = p->gpu >= 0};
                n++;
        }
        master_worker_state(w.m, h->peer, h->id, executors, n, drivers, d, w.now);
}

static void end_process(struct host *h, int at, bool tell)
{
        struct process p = h->processes[at];
        int status = (int)roll(2);

        h->processes[at] = h->processes[--h->n_processes];
        if (!tell || !h->peer)
                return;
        if (p.id >= 0) {
                master_executor_changed(w.m, p.owner, p.id, roll(3) ? EXECUTOR_EXITED : EXECUTOR_FAILED, NULL,
                                        roll(2) ? &status : NULL, w.now);
                return;
        }
        struct master_driver *d = master_driver(w.m, p.owner);

        if (d)
                w.over[atoi(d->main_class)] = true;
        master_driver_changed(w.m, p.owner, DRIVER_FINISHED, NULL, w.now);
}

static void read_letter(struct host *h)
{
        if (h->n_inbox == 0)
                return;
        struct letter l = h->inbox[0];

        memmove(h->inbox, h->inbox + 1, (size_t)--h->n_inbox * sizeof(l));
        switch (l.kind) {
        case LETTER_REGISTERED:
        case LETTER_CHANGED:
                h->knows = true;
                report(h);
                break;
        case LETTER_LAUNCH:
        case LETTER_DRIVER:
                HOLDS(h->n_processes < PROCESSES);
                h->processes[h->n_processes++] = l.what;
                break;
        case LETTER_KILL:
        case LETTER_KILL_DRIVER:
                for (int i = 0; i < h->n_processes; i++)
                        if (h->processes[i].id == l.what.id && strcmp(h->processes[i].owner, l.what.owner) == 0) {
                                end_process(h, i, l.kind == LETTER_KILL_DRIVER);
                                break;
                        }
        }
}

static void host_event(struct host *h)
{
        if (!h->up) {
                if (h->old_peer && roll(2))
                        notice(h);
                else if (roll(3) == 0 && !h->old_peer)
                        start(h);
                return;
        }
        switch (roll(24)) {
        case 0: /* it dies */
                cut(h);
                h->up = false;
                h->n_processes = 0;
                break;
        case 1:
                cut(h);
                break;
        case 2:
                notice(h);
                break;
        case 3:
                if (roll(6) == 0)
                        master_decommission_worker(w.m, h->id, w.now);
                break;
        case 4:
        case 5:
        case 6:
                if (h->peer)
                        master_heartbeat(w.m, h->peer, h->id, w.now);
                break;
        case 7:
        case 8:
        case 9:
        case 10:
                if (!h->n_processes)
                        break;
                struct process *p = &h->processes[roll((unsigned)h->n_processes)];

                if (p->id >= 0 && !p->running && h->peer) {
                        p->running = true;
                        master_executor_changed(w.m, p->owner, p->id, EXECUTOR_RUNNING, NULL, NULL, w.now);
                } else if (roll(2)) {
                        end_process(h, (int)(p - h->processes), true);
                }
                break;
        default:
                if (!h->peer || !h->knows)
                        connect_and_register(h);
                else
                        read_letter(h);
        }
}

static void draw_targets(struct client *c)
{
        c->targets[0].executors = (int)roll(6);
        c->targets[1].executors = (int)roll(3);
}

static void answer(struct client *c)
{
        c->must_answer = false;
        c->peer = ++w.next_peer;
        master_app_changed(w.m, c->peer, c->id, c->targets, 2, c->next_executor, w.now);
}

static void client_event(struct client *c)
{
        if (c->must_answer) {
                if (c->lives)
                        answer(c);
                return;
        }
        if (!c->lives) {
                if (roll(3))
                        return;
                int at = (int)(c - w.clients) + APPS * w.n_clients_ever++;

                *c = (struct client){.lives = true, .peer = ++w.next_peer};
                snprintf(c->address, sizeof(c->address), "%d", at);
                c->targets[0].profile = (struct executor_profile){.cores = (int)roll(5), .memory = 256 * roll(5)};
                c->targets[1].profile = (struct executor_profile){
                        .id = 1, .cores = 1 + (int)roll(2), .memory = 128, .needs = &one_gpu, .n_needs = 1};
                draw_targets(c);
                c->spec = (struct app_spec){.name = c->address,
                                            .address = c->address,
                                            .max_cores = roll(2) ? 0 : 1 + (int)roll(20),
                                            .initial_executors = roll(2) ? c->targets[0].executors : -1,
                                            .profile = c->targets[0].profile};
                if (c->spec.initial_executors < 0)
                        c->targets[0].executors = INT32_MAX;
                c->targets[1].executors = 0;
                master_register_app(w.m, c->peer, &c->spec, w.now);
                return;
        }
        switch (roll(12)) {
        case 0:
                c->lives = false;
                if (roll(2))
                        master_unregister_app(w.m, c->id, w.now);
                else
                        master_app_disconnected(w.m, c->peer, c->id, w.now);
                break;
        case 1:
        case 2:
        case 3:
                draw_targets(c);
                HOLDS(master_request_executors(w.m, c->id, c->targets, 2, w.now));
                break;
        case 4:
        case 5: {
                int ids[2] = {(int)roll((unsigned)c->next_executor + 1), (int)roll((unsigned)c->next_executor + 1)};

                HOLDS(master_kill_executors(w.m, c->id, ids, 2, w.now));
        }
        }
}

static void driver_event(void)
{
        if (w.n_tokens < TOKENS && w.m->n_drivers < 12 && roll(3) == 0) {
                char name[8];
                struct driver_spec spec = {.main_class = name,
                                           .cores = 1 + (int)roll(3),
                                           .memory = 256 * (1 + roll(4)),
                                           .supervise = roll(2)};

                snprintf(name, sizeof(name), "%d", w.n_tokens);
                struct master_reply reply = master_submit_driver(w.m, &spec, w.now);

                if (reply.success)
                        w.supervised[w.n_tokens++] = spec.supervise;
                master_reply_deinit(&reply);
        } else if (w.m->last_driver && roll(8) == 0) {
                const struct master_driver *d = w.m->last_driver;
                int token = atoi(d->main_class);
                bool waited = d->waiting;
                char id[64];

                snprintf(id, sizeof(id), "%s", d->id);
                struct master_reply reply = master_kill_driver(w.m, id, w.now);

                w.over[token] |= reply.success && waited;
                master_reply_deinit(&reply);
        }
}

/* This master ends; another begins with what was stored. */
static void another_master(const struct master_config *config)
{
        struct app_record apps[RECORDS];
        struct driver_record drivers[RECORDS];
        struct worker_spec workers[RECORDS];
        char names[RECORDS][8], ids[RECORDS][40];
        int n[3] = {0};

        for (int i = 0; i < w.n_records; i++) {
                struct record *r = &w.records[i];
                int at = n[r->kind]++;

                memcpy(ids[i], r->id, sizeof(ids[i]));
                if (r->kind == MASTER_RECORD_APP) {
                        apps[at] = (struct app_record){.id = ids[i], .spec = w.clients[r->at % APPS].spec};
                        continue;
                }
                if (r->kind == MASTER_RECORD_WORKER) {
                        workers[at] = spec_of(&w.hosts[r->at]); /* it may be another by now, with other cores */
                        workers[at].id = ids[i];
                        continue;
                }
                const struct master_driver *d = master_driver(w.m, r->id);

                snprintf(names[i], sizeof(names[i]), "%d", r->at);
                drivers[at] = (struct driver_record){.id = ids[i],
                                                     .launched = r->launched,
                                                     .spec = {.main_class = names[i],
                                                              .cores = d->cores,
                                                              .memory = d->memory,
                                                              .supervise = d->supervise}};
        }
        for (int i = 0; i < WORKERS; i++) {
                w.hosts[i].peer = w.hosts[i].old_peer = 0;
                w.hosts[i].knows = false;
                w.hosts[i].n_inbox = 0;
        }
        int next_app = w.m->next_app, next_driver = w.m->next_driver;

        master_free(w.m);
        w.m = master_new(config, &world_ops, &w);
        w.m->next_app = next_app + 1; /* dates would tell them apart */
        w.m->next_driver = next_driver + 1;
        w.masters++;
        master_elected(w.m, apps, n[MASTER_RECORD_APP], drivers, n[MASTER_RECORD_DRIVER], workers,
                       n[MASTER_RECORD_WORKER], w.now);
}

static void tick(void)
{
        for (int i = 0; i < APPS; i++) /* who lives answers in time */
                if (w.clients[i].lives && w.clients[i].must_answer)
                        answer(&w.clients[i]);
        w.now += roll(30000);
        master_tick(w.m, w.now);
        for (int i = 0; i < APPS; i++)
                if (!master_app(w.m, w.clients[i].id))
                        w.clients[i].must_answer = false;
}

static void settle(void)
{
        for (int round = 0; round < 100; round++) {
                for (int i = 0; i < WORKERS; i++) {
                        struct host *h = &w.hosts[i];

                        notice(h);
                        if (!h->up)
                                continue;
                        if (!h->peer || !h->knows)
                                connect_and_register(h);
                        master_heartbeat(w.m, h->peer, h->id, w.now);
                        read_letter(h);
                }
                if (round % 10 == 0) {
                        w.now += 15000; /* a recovery ends by its time at last */
                        tick();
                }
                master_schedule(w.m, w.now);
                check();
                nothing_waits_in_vain();
        }
        HOLDS(w.m->status == MASTER_ALIVE);
        for (int i = 0; i < WORKERS; i++) {
                const struct host *h = &w.hosts[i];
                const struct master_worker *mw = h->up ? master_worker(w.m, h->id) : NULL;

                if (!h->up)
                        continue;
                HOLDS(mw && h->n_inbox == 0);
                HOLDS(h->n_processes == mw->n_executors + mw->n_drivers);
        }
}

static void live(uint64_t seed)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;

        w = (struct world){
                .seed = seed, .random = seed, .now = 1, .launches = w.launches, .lost = w.lost, .masters = w.masters};
        config.seed = seed;
        config.selection = roll(5);
        config.spread_out_apps = roll(3) > 0;
        config.spread_out_drivers = roll(2);
        config.max_drivers = roll(3) ? INT32_MAX : 1 + (int)roll(4);
        config.max_executor_retries = (int)roll(12) - 1;
        config.reaper_iterations = 1;
        config.retained_apps = config.retained_drivers = 1 + (int)roll(20);
        w.m = master_new(&config, &world_ops, &w);
        master_elected(w.m, NULL, 0, NULL, 0, NULL, 0, w.now);
        for (int step = 0; step < STEPS; step++) {
                unsigned kind = roll(100);

                if (kind < 66)
                        host_event(&w.hosts[roll(WORKERS)]);
                else if (kind < 84)
                        client_event(&w.clients[roll(APPS)]);
                else if (kind < 95)
                        driver_event();
                else if (kind < 98)
                        tick();
                else if (kind == 98)
                        another_master(&config);
                check();
                if (roll(3)) {
                        master_schedule(w.m, w.now);
                        check();
                        nothing_waits_in_vain();
                }
        }
        settle();
        for (int i = 0; i < APPS; i++) {
                if (w.clients[i].lives)
                        master_unregister_app(w.m, w.clients[i].id, w.now);
                w.clients[i].lives = false;
        }
        while (w.m->n_drivers > 0) {
                struct master_reply reply = master_kill_all_drivers(w.m, w.now);

                master_reply_deinit(&reply);
                for (int i = 0; i < w.n_tokens; i++)
                        w.over[i] = true; /* that waited */
                settle();
        }
        settle();
        for (int i = 0; i < WORKERS; i++)
                HOLDS(!w.hosts[i].up || w.hosts[i].n_processes == 0);
        HOLDS(w.m->n_apps == 0 && w.m->n_drivers == 0);
        master_free(w.m);
}

static void the_invariants_hold_in_random_worlds(void **state)
{
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
                live(seed);
        HOLDS(w.launches > SEEDS * 10 && w.lost > SEEDS && w.masters > SEEDS); /* the worlds were not idle */
        print_message("%d worlds: %lld launches, %lld executors lost, %lld masters followed another\n", SEEDS,
                      (long long)w.launches, (long long)w.lost, (long long)w.masters);
}

static double cpu_ms(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void register_many(struct master *m, int n)
{
        for (int i = 0; i < n; i++) {
                char id[64];
                struct worker_spec spec = {.id = id, .host = "10.0.0.1", .port = i, .cores = 8, .memory = 16384};

                snprintf(id, sizeof(id), "worker-20231101000000-10.0.0.1-%d", i);
                master_register_worker(m, 1 + (uint64_t)i, &spec, 1);
        }
}

/* What 10,000 workers cost, in CPU time of this thread with an owner that writes everything down; printed, not judged.
 */
static void ten_thousand_workers(void **state)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;
        struct recorder rec = {0};
        struct app_spec spec = {
                .name = "big", .address = "big", .initial_executors = 10000, .profile = {.cores = 2, .memory = 1024}};
        char name[16];

        config.log_level = LOG_OFF;
        struct master *m = master_new(&config, &recorder_ops, &rec);

        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 1);
        double began = cpu_ms();

        register_many(m, 10000);
        double registered = cpu_ms();

        master_register_app(m, 1, &spec, 1);
        master_schedule(m, 1);
        double placed = cpu_ms();

        assert_int_equal(m->apps->n_executors, 10000);
        spec.initial_executors = 10;
        spec.name = spec.address = name;
        double many = cpu_ms();

        for (int i = 0; i < 1000; i++) { /* each by itself: the worst of batches */
                snprintf(name, sizeof(name), "app%d", i);
                master_register_app(m, 2, &spec, 2);
                master_schedule(m, 2);
        }
        double all = cpu_ms();

        for (const struct master_app *app = m->apps->next; app; app = app->next)
                assert_int_equal(app->n_executors, 10);
        double beat = cpu_ms();

        for (int i = 0; i < 10000; i++) {
                master_heartbeat(m, 1 + (uint64_t)i, m->workers->id, 3);
        }
        double beaten = cpu_ms();

        print_message("10,000 workers registered in %.1f ms; 10,000 executors of one application placed in %.1f ms; "
                      "1,000 applications of 10 executors placed one by one in %.1f ms; 10,000 heartbeats %.1f ms; "
                      "%zu bytes a worker, %zu an executor, and their strings\n",
                      registered - began, placed - registered, all - many, beaten - beat, sizeof(struct master_worker),
                      sizeof(struct master_executor));
        master_free(m);
        recorder_deinit(&rec);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_invariants_hold_in_random_worlds),
                cmocka_unit_test(ten_thousand_workers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
