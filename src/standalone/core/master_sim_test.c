/* The master in a random cluster. Workers start, die and are disconnected. Applications change their targets. Messages
 * wait, or are lost with their connection. Masters end, and others that read the stored records replace them. A seed
 * reproduces a failure. After every event
 *
 *      no worker gives more cores, memory or addresses than it has, and its sums match its executors and drivers;
 *      no application has more cores than its limit, and none gets an executor beyond its target;
 *      the records are exactly those of live applications, drivers, and workers that are not decommissioned;
 *      no live application and no supervised driver is lost, and no driver exists twice;
 *      after a pass nothing waits for which a worker has room (checked by a full scan, as in Spark's Master);
 *
 * and, once the faults stop, the master's state equals what runs, and nothing runs after all applications have ended.
 */
#include "standalone/core/master_sim.h"

#include <stdlib.h>

static const struct resource_need one_gpu = {"gpu", 1};

static struct worker_spec spec_of(const struct master_sim_host *h)
{
        static struct resource_addresses gpus[WORKERS];
        int at = (int)(h - world.hosts);

        gpus[at] = (struct resource_addresses){"gpu", gpu_names, h->gpus};
        return (struct worker_spec){.id = h->id,
                                    .host = "h",
                                    .port = at,
                                    .cores = h->cores,
                                    .memory = h->memory,
                                    .resources = &gpus[at],
                                    .n_resources = h->gpus > 0};
}

static void connect_and_register(struct master_sim_host *h)
{
        struct worker_spec spec = spec_of(h);

        h->peer = ++world.next_peer;
        h->n_inbox = 0;
        h->knows = true;
        master_register_worker(world.m, h->peer, &spec, world.now);
}

static void start(struct master_sim_host *h)
{
        h->up = true;
        h->n_processes = h->n_inbox = 0;
        h->cores = 1 + (int)sim_roll(12);
        h->memory = 1024 * (1 + sim_roll(8));
        h->gpus = sim_roll(3) ? 0 : 1 + (int)sim_roll(4);
        snprintf(h->id, sizeof(h->id), "w-%d-%d", (int)(h - world.hosts), h->generation++);
        connect_and_register(h);
}

/* Closes a connection. The master may notice later. */
static void cut(struct master_sim_host *h)
{
        if (h->peer && !h->old_peer)
                h->old_peer = h->peer;
        h->peer = 0;
        h->knows = false;
        h->n_inbox = 0;
}

static void notice(struct master_sim_host *h)
{
        if (h->old_peer)
                master_worker_disconnected(world.m, h->old_peer, h->id, world.now);
        h->old_peer = 0;
}

static void report(struct master_sim_host *h)
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
        master_worker_state(world.m, h->peer, h->id, executors, n, drivers, d, world.now);
}

static void end_process(struct master_sim_host *h, int at, bool tell)
{
        struct process p = h->processes[at];
        int status = (int)sim_roll(2);

        h->processes[at] = h->processes[--h->n_processes];
        if (!tell || !h->peer)
                return;
        if (p.id >= 0) {
                master_executor_changed(world.m, p.owner, p.id, sim_roll(3) ? EXECUTOR_EXITED : EXECUTOR_FAILED, NULL,
                                        sim_roll(2) ? &status : NULL, world.now);
                return;
        }
        struct master_driver *d = master_driver(world.m, p.owner);

        if (d)
                world.over[atoi(d->main_class)] = true;
        master_driver_changed(world.m, p.owner, DRIVER_FINISHED, NULL, world.now);
}

static void read_letter(struct master_sim_host *h)
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

static void host_event(struct master_sim_host *h)
{
        if (!h->up) {
                if (h->old_peer && sim_roll(2))
                        notice(h);
                else if (sim_roll(3) == 0 && !h->old_peer)
                        start(h);
                return;
        }
        switch (sim_roll(24)) {
        case 0: /* the host dies */
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
                if (sim_roll(6) == 0)
                        master_decommission_worker(world.m, h->id, world.now);
                break;
        case 4:
        case 5:
        case 6:
                if (h->peer)
                        master_heartbeat(world.m, h->peer, h->id, world.now);
                break;
        case 7:
        case 8:
        case 9:
        case 10:
                if (!h->n_processes)
                        break;
                struct process *p = &h->processes[sim_roll((unsigned)h->n_processes)];

                if (p->id >= 0 && !p->running && h->peer) {
                        p->running = true;
                        master_executor_changed(world.m, p->owner, p->id, EXECUTOR_RUNNING, NULL, NULL, world.now);
                } else if (sim_roll(2)) {
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
        c->targets[0].executors = (int)sim_roll(6);
        c->targets[1].executors = (int)sim_roll(3);
}

static void answer(struct client *c)
{
        c->must_answer = false;
        c->peer = ++world.next_peer;
        master_app_changed(world.m, c->peer, c->id, c->targets, 2, c->next_executor, world.now);
}

/* The next driver of the application registers, at another address. The last one may still be connected. */
static void start_next_driver(struct client *c)
{
        uint64_t last = c->peer;
        struct app_spec old = c->spec;
        int64_t superseded = world.superseded;
        bool known = master_app(world.m, c->id) != NULL, connected = known && master_app(world.m, c->id)->peer == last;
        char id[40];

        memcpy(id, c->id, sizeof(id));
        c->gone = c->must_answer = false;
        c->peer = ++world.next_peer;
        snprintf(c->next_address, sizeof(c->next_address), "next-%d", (int)world.next_peer);
        c->spec.address = c->next_address;
        c->spec.resume.epoch++;
        c->spec.resume_id = id;
        c->spec.initial_executors = c->targets[0].executors = (int)sim_roll(6);
        c->targets[1].executors = 0;
        master_register_app(world.m, c->peer, &c->spec, world.now);
        world_run();
        HOLDS(known == (strcmp(id, c->id) == 0));
        HOLDS(world.superseded == superseded + connected);
        master_app_disconnected(world.m, last, id, world.now); /* the end of the old connection has no effect */
        old.app_id = c->id;
        if (sim_roll(2) && known) { /* and the old driver cannot come back */
                old.address = "woken";
                master_register_app(world.m, ++world.next_peer, &old, world.now);
                world_run();
                HOLDS(world.superseded == superseded + connected + 1);
        }
        HOLDS(!known || master_app(world.m, id)->peer == c->peer);
        c->spec.resume_id = NULL;
}

static void client_event(struct client *c)
{
        if (c->lives && c->spec.resume.epoch > 0 && sim_roll(c->gone ? 3 : 20) == 0) {
                start_next_driver(c);
                return;
        }
        if (c->gone)
                return;
        if (c->must_answer) {
                if (c->lives)
                        answer(c);
                return;
        }
        if (!c->lives) {
                if (sim_roll(3))
                        return;
                int at = (int)(c - world.clients) + APPS * world.n_clients_ever++;

                *c = (struct client){.lives = true, .peer = ++world.next_peer};
                snprintf(c->address, sizeof(c->address), "%d", at);
                c->targets[0].profile =
                        (struct executor_profile){.cores = (int)sim_roll(5), .memory = 256 * sim_roll(5)};
                c->targets[1].profile = (struct executor_profile){
                        .id = 1, .cores = 1 + (int)sim_roll(2), .memory = 128, .needs = &one_gpu, .n_needs = 1};
                draw_targets(c);
                c->spec = (struct app_spec){.name = c->address,
                                            .address = c->address,
                                            .max_cores = sim_roll(2) ? 0 : 1 + (int)sim_roll(20),
                                            .initial_executors = sim_roll(2) ? c->targets[0].executors : -1,
                                            .profile = c->targets[0].profile};
                if (sim_roll(2))
                        c->spec.resume = (struct app_resume){1, sim_roll(40) * NS_PER_SECOND, "token"};
                if (c->spec.initial_executors < 0)
                        c->targets[0].executors = INT32_MAX;
                c->targets[1].executors = 0;
                master_register_app(world.m, c->peer, &c->spec, world.now);
                return;
        }
        switch (sim_roll(12)) {
        case 0:
                c->lives = c->spec.resume.timeout > 0 && sim_roll(3);
                c->gone = c->lives;
                if (!c->gone && sim_roll(2))
                        master_unregister_app(world.m, c->id, world.now);
                else
                        master_app_disconnected(world.m, c->peer, c->id, world.now);
                break;
        case 1:
        case 2:
        case 3:
                draw_targets(c);
                HOLDS(master_request_executors(world.m, c->id, c->targets, 2, world.now));
                break;
        case 4:
        case 5: {
                int ids[2] = {(int)sim_roll((unsigned)c->next_executor + 1),
                              (int)sim_roll((unsigned)c->next_executor + 1)};

                HOLDS(master_kill_executors(world.m, c->id, ids, 2, world.now));
        }
        }
}

static void driver_event(void)
{
        if (world.n_tokens < TOKENS && world.m->n_drivers < 12 && sim_roll(3) == 0) {
                char name[16];
                struct driver_spec spec = {.main_class = name,
                                           .cores = 1 + (int)sim_roll(3),
                                           .memory = 256 * (1 + sim_roll(4)),
                                           .supervise = sim_roll(2)};

                snprintf(name, sizeof(name), "%d", world.n_tokens);
                struct master_reply reply = master_submit_driver(world.m, &spec, world.now);

                if (reply.success)
                        world.supervised[world.n_tokens++] = spec.supervise;
                master_reply_deinit(&reply);
        } else if (world.m->drivers.last && sim_roll(8) == 0) {
                const struct master_driver *d = world.m->drivers.last;
                int token = atoi(d->main_class);
                bool waited = d->waiting;
                char id[64];

                snprintf(id, sizeof(id), "%s", d->id);
                struct master_reply reply = master_kill_driver(world.m, id, world.now);

                world.over[token] |= reply.success && waited;
                master_reply_deinit(&reply);
        }
}

/* Ends this master and starts another from the stored records. */
static void another_master(const struct master_config *config)
{
        struct app_record apps[RECORDS];
        struct driver_record drivers[RECORDS];
        struct worker_spec workers[RECORDS];
        char names[RECORDS][8], ids[RECORDS][40];
        int n[3] = {0};

        for (int i = 0; i < world.n_records; i++) {
                struct record *r = &world.records[i];
                int at = n[r->kind]++;

                memcpy(ids[i], r->id, sizeof(ids[i]));
                if (r->kind == MASTER_RECORD_APP) {
                        apps[at] = (struct app_record){.id = ids[i],
                                                       .waiting = r->waiting,
                                                       .next_executor = r->next_executor,
                                                       .spec = world.clients[r->at % APPS].spec};
                        continue;
                }
                if (r->kind == MASTER_RECORD_WORKER) {
                        workers[at] =
                                spec_of(&world.hosts[r->at]); /* it may have been replaced by one with other cores */
                        workers[at].id = ids[i];
                        continue;
                }
                const struct master_driver *d = master_driver(world.m, r->id);

                snprintf(names[i], sizeof(names[i]), "%d", r->at);
                drivers[at] = (struct driver_record){.id = ids[i],
                                                     .launched = r->launched,
                                                     .spec = {.main_class = names[i],
                                                              .cores = d->cores,
                                                              .memory = d->memory,
                                                              .supervise = d->supervise}};
        }
        for (int i = 0; i < WORKERS; i++) {
                world.hosts[i].peer = world.hosts[i].old_peer = 0;
                world.hosts[i].knows = false;
                world.hosts[i].n_inbox = 0;
        }
        int next_app = world.m->next_app, next_driver = world.m->next_driver;

        master_free(world.m);
        world.m = master_new(config);
        world.m->next_app = next_app + 1; /* real ids differ by their dates */
        world.m->next_driver = next_driver + 1;
        world.masters++;
        master_elected(world.m, apps, n[MASTER_RECORD_APP], drivers, n[MASTER_RECORD_DRIVER], workers,
                       n[MASTER_RECORD_WORKER], world.now);
}

static void tick(void)
{
        for (int i = 0; i < APPS; i++) /* live clients answer in time */
                if (world.clients[i].lives && !world.clients[i].gone && world.clients[i].must_answer)
                        answer(&world.clients[i]);
        world.now += sim_roll(30000) * NS_PER_MS;
        master_tick(world.m, world.now);
        for (int i = 0; i < APPS; i++)
                if (!master_app(world.m, world.clients[i].id))
                        world.clients[i].must_answer = false;
}

static void settle(void)
{
        for (int round = 0; round < 100; round++) {
                for (int i = 0; i < WORKERS; i++) {
                        struct master_sim_host *h = &world.hosts[i];

                        notice(h);
                        if (!h->up)
                                continue;
                        if (!h->peer || !h->knows)
                                connect_and_register(h);
                        master_heartbeat(world.m, h->peer, h->id, world.now);
                        read_letter(h);
                }
                if (round % 10 == 0) {
                        world.now += 15 * NS_PER_SECOND; /* a recovery ends by its timeout at the latest */
                        tick();
                }
                master_schedule(world.m, world.now);
                world_run();
                world_check();
                world_check_no_starvation();
        }
        HOLDS(world.m->status == MASTER_ALIVE);
        for (int i = 0; i < WORKERS; i++) {
                const struct master_sim_host *h = &world.hosts[i];
                const struct master_worker *mw = h->up ? master_worker(world.m, h->id) : NULL;

                if (!h->up)
                        continue;
                HOLDS(mw && h->n_inbox == 0);
                HOLDS(h->n_processes == mw->n_executors + mw->n_drivers);
        }
}

static void live(uint64_t seed)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;

        world = (struct master_world){.seed = seed,
                                      .random = seed,
                                      .now = NS_PER_MS,
                                      .launches = world.launches,
                                      .lost = world.lost,
                                      .masters = world.masters,
                                      .resumed = world.resumed,
                                      .superseded = world.superseded};
        config.seed = seed;
        config.selection = sim_roll(5);
        config.spread_out_apps = sim_roll(3) > 0;
        config.spread_out_drivers = sim_roll(2);
        config.max_drivers = sim_roll(3) ? INT32_MAX : 1 + (int)sim_roll(4);
        config.max_executor_retries = (int)sim_roll(12) - 1;
        config.reaper_iterations = 1;
        config.retained_apps = config.retained_drivers = 1 + (int)sim_roll(20);
        world.m = master_new(&config);
        master_elected(world.m, NULL, 0, NULL, 0, NULL, 0, world.now);
        world_run();
        for (int step = 0; step < STEPS; step++) {
                unsigned kind = sim_roll(100);

                if (kind < 66)
                        host_event(&world.hosts[sim_roll(WORKERS)]);
                else if (kind < 84)
                        client_event(&world.clients[sim_roll(APPS)]);
                else if (kind < 95)
                        driver_event();
                else if (kind < 98)
                        tick();
                else if (kind == 98)
                        another_master(&config);
                world_run();
                world_check();
                if (sim_roll(3)) {
                        master_schedule(world.m, world.now);
                        world_run();
                        world_check();
                        world_check_no_starvation();
                }
        }
        settle();
        for (int i = 0; i < APPS; i++) {
                if (world.clients[i].lives)
                        master_unregister_app(world.m, world.clients[i].id, world.now);
                world.clients[i].lives = world.clients[i].gone = false;
        }
        while (world.m->n_drivers > 0) {
                struct master_reply reply = master_kill_all_drivers(world.m, world.now);

                master_reply_deinit(&reply);
                for (int i = 0; i < world.n_tokens; i++)
                        world.over[i] = true; /* a waiting one */
                settle();
        }
        settle();
        for (int i = 0; i < WORKERS; i++)
                HOLDS(!world.hosts[i].up || world.hosts[i].n_processes == 0);
        HOLDS(world.m->n_apps == 0 && world.m->n_drivers == 0);
        master_free(world.m);
}

static void the_invariants_hold_in_random_worlds(void **state)
{
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
                live(seed);
        HOLDS(world.launches > SEEDS * 10 && world.lost > SEEDS && world.masters > SEEDS && world.resumed > SEEDS &&
              world.superseded > SEEDS); /* the simulations were not idle */
        print_message("%d worlds: %lld launches, %lld executors lost, %lld masters followed another, %lld drivers went "
                      "on, %lld were superseded\n",
                      SEEDS, (long long)world.launches, (long long)world.lost, (long long)world.masters,
                      (long long)world.resumed, (long long)world.superseded);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_invariants_hold_in_random_worlds),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
