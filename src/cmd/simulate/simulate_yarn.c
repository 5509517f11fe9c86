/*
 * firesteel simulate --yarn: the core that allocates containers (yarn/allocator/yarn_allocator.h) against a simulated
 * ResourceManager, in virtual heartbeats of one second. Containers fail, launches fail, nodes are lost or leave,
 * the driver excludes hosts, and the ResourceManager forgets everything, all drawn from a seed.
 *
 * Checked at every step: each granted container is launched or given back, no executor id comes twice, each launched
 * executor is reported as exited exactly once, the ResourceManager knows the excluded hosts, each executor on a leaving
 * node is asked to finish, the targets are reached when the faults end, and nothing is asked for or runs after the
 * application wants no executors.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/simulate/simulate.h"
#include "cmd/simulate/world_chance.h"
#include "yarn/allocator/yarn_allocator.h"

#include <inttypes.h>
#include <stdio.h>

#define HEARTBEAT_NS 1000000000
#define MAX_SETTLING_ROUNDS 1000
#define NAME_SIZE 24
#define EXCLUDED_HEARTBEATS 5

const char simulate_yarn_help[] =
        "Usage: firesteel simulate --yarn [OPTIONS]\n"
        "\n"
        "Run the allocation of YARN containers against a simulated ResourceManager, with failures, and check that no\n"
        "container is lost. Print how long it takes.\n"
        "\n"
        "  --containers N            (10000) executors that the driver wants\n"
        "  --hosts N                 (200) NodeManagers, each with the same room\n"
        "  --racks N                 (10) racks of the hosts\n"
        "  --profiles N              (1) resource profiles among which the executors are divided\n"
        "  --rounds N                (20) heartbeats with faults\n"
        "  --failures P              (0) a running container fails between two heartbeats\n"
        "  --launch-failures P       (0) a NodeManager refuses a container\n"
        "  --lost-nodes P            (0) a node is lost between two heartbeats, with its containers; another replaces it\n"
        "  --leaving-nodes P         (0) a node is decommissioned between two heartbeats: its executors finish\n"
        "  --exclusions P            (0) the driver excludes a host between two heartbeats, for 5 heartbeats\n"
        "  --restarts P              (0) the ResourceManager forgets everything between two heartbeats\n"
        "  --seed N                  (1) seed of the random numbers: the same seed gives the same run\n"
        "  --seeds A..B              a run for each seed from A to B\n"
        "  --output text|json        (text) how results are printed\n"
        "  --help                    show this\n";

struct yarn_request {
        int containers, hosts, racks, profiles, rounds;
        double failures, launch_failures, lost_nodes, leaving_nodes, exclusions, restarts;
        uint64_t seed, last_seed;
        bool json;
};

enum simulated_state { SIM_GRANTED, SIM_LAUNCHING, SIM_RUNNING, SIM_RELEASED, SIM_ENDED };

struct simulated_container {
        enum simulated_state state;
        int host, profile;
        int32_t executor; /* 0: none was launched */
        bool finishing;   /* the driver was told that its node leaves */
        bool exited;      /* the executor was reported */
        bool refused;     /* by its NodeManager: the executor is not reported */
};

struct yarn_world {
        const struct yarn_request *request;
        struct world_chance chance;
        struct yarn_allocator allocator;
        int *any, *racks, *hosts; /* the ResourceManager's table of requests: a row of each for each profile */
        bool *excluded;           /* hosts, as the ResourceManager knows */
        int *excluded_until;      /* the same for the driver: the heartbeat; 0: not excluded */
        int *used;                /* containers of each host */
        int room;                 /* of each host */
        VEC(struct simulated_container) containers;
        VEC(int) executors; /* executor - 1 → container */
        int64_t now;
        int heartbeats, failed, refused, lost, left, exclusions, restarted;
};

/* ------------------------------------------------------------------------------------------------------------ world */

static struct yarn_container_id world_id(size_t n)
{
        return (struct yarn_container_id){
                .application = {.cluster_timestamp = 1, .id = 1}, .attempt = 1, .id = (int64_t)n + 1};
}

static const char *host_name(int host, char text[static NAME_SIZE])
{
        snprintf(text, NAME_SIZE, "host%d", host);
        return text;
}

static const char *rack_name(int rack, char text[static NAME_SIZE])
{
        snprintf(text, NAME_SIZE, "/rack%d", rack);
        return text;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

static int host_number(const char *name)
{
        return atoi(name + strlen("host"));
}

static int *world_host_row(const struct yarn_world *w, int profile, int host)
{
        return &w->hosts[profile * w->request->hosts + host];
}

static int *world_rack_row(const struct yarn_world *w, int profile, int rack)
{
        return &w->racks[profile * w->request->racks + rack];
}

static void world_ask(struct yarn_world *w, int profile, const char *location, int count)
{
        if (count < 0)
                world_chance_violate(&w->chance, "%d containers are asked for at %s", count, location);
        if (strcmp(location, "*") == 0)
                w->any[profile] = count;
        else if (location[0] == '/')
                *world_rack_row(w, profile, atoi(location + strlen("/rack"))) = count;
        else
                *world_host_row(w, profile, host_number(location)) = count;
}

static void world_exclude(struct yarn_world *w, const char *host, bool excluded)
{
        if (w->excluded[host_number(host)] == excluded)
                world_chance_violate(&w->chance, "%s is %s twice", host, excluded ? "excluded" : "included");
        w->excluded[host_number(host)] = excluded;
}

static void world_release(struct yarn_world *w, size_t n)
{
        struct simulated_container *c = &w->containers.data[n];
        if (c->state != SIM_ENDED)
                c->state = SIM_RELEASED;
}

static void world_launch(struct yarn_world *w, size_t n, int32_t executor)
{
        struct simulated_container *c = &w->containers.data[n];
        if (c->state != SIM_GRANTED)
                world_chance_violate(&w->chance, "container %zu is launched in state %d", n, c->state);
        if ((size_t)executor != w->executors.len + 1)
                world_chance_violate(&w->chance, "executor %d comes after executor %zu", executor, w->executors.len);
        vec_push(&w->executors, (int)n);
        c->state = SIM_LAUNCHING;
        c->executor = executor;
}

static void world_report(struct yarn_world *w, int32_t executor)
{
        if (executor < 1 || (size_t)executor > w->executors.len) {
                world_chance_violate(&w->chance, "executor %d, which was never launched, is reported as exited",
                                     executor);
                return;
        }
        struct simulated_container *c = &w->containers.data[w->executors.data[executor - 1]];
        if (c->exited)
                world_chance_violate(&w->chance, "executor %d is reported as exited twice", executor);
        c->exited = true;
}

/* Tells the driver that the executor's node leaves. */
static void world_tell(struct yarn_world *w, int32_t executor)
{
        struct simulated_container *c = &w->containers.data[w->executors.data[executor - 1]];
        if (c->state != SIM_RUNNING)
                world_chance_violate(&w->chance, "executor %d, which is in state %d, is asked to finish", executor,
                                     c->state);
        c->finishing = true;
}

static void world_drain(struct yarn_world *w)
{
        for (const struct yarn_action *x; (x = yarn_allocator_next_action(&w->allocator));) {
                switch (x->kind) {
                case YARN_ACTION_ASK:
                        world_ask(w, x->ask.profile, x->ask.location, x->ask.count);
                        break;
                case YARN_ACTION_RELEASE:
                        world_release(w, (size_t)x->container.id - 1);
                        break;
                case YARN_ACTION_LAUNCH:
                        world_launch(w, (size_t)x->launch.container.id - 1, x->launch.executor);
                        break;
                case YARN_ACTION_EXECUTOR_EXITED:
                        world_report(w, x->exited.executor);
                        break;
                case YARN_ACTION_EXCLUDE:
                case YARN_ACTION_INCLUDE:
                        world_exclude(w, x->host, x->kind == YARN_ACTION_EXCLUDE);
                        break;
                case YARN_ACTION_DECOMMISSION:
                        world_tell(w, x->decommission.executor);
                        break;
                case YARN_ACTION_LOG:
                        break;
                }
        }
}

/* --------------------------------------------------------------------------------------------- the ResourceManager */

/* A host with room, one that is asked for by name if there is one. -1: the cluster is full. */
static int world_choose_host(struct yarn_world *w, int profile)
{
        const int n = w->request->hosts, first = (int)world_chance_draw(&w->chance, (uint32_t)n);
        int any = -1;
        for (int i = 0; i < n; i++) {
                const int host = (first + i) % n;
                if (w->used[host] >= w->room || w->excluded[host])
                        continue;
                if (*world_host_row(w, profile, host) > 0)
                        return host;
                any = any < 0 ? host : any;
        }
        return any;
}

/* Grants all that is asked for by a profile and has room. */
static void world_grant(struct yarn_world *w, int profile)
{
        char host_text[NAME_SIZE], rack_text[NAME_SIZE];
        for (int host; w->any[profile] > 0 && (host = world_choose_host(w, profile)) >= 0;) {
                const int rack = host % w->request->racks;
                int *host_row = world_host_row(w, profile, host), *rack_row = world_rack_row(w, profile, rack);
                const size_t n = w->containers.len;
                w->any[profile]--;
                *host_row -= *host_row > 0;
                *rack_row -= *rack_row > 0;
                w->used[host]++;
                vec_push(&w->containers,
                         (struct simulated_container){.state = SIM_GRANTED, .host = host, .profile = profile});
                const struct yarn_granted granted = {.id = world_id(n),
                                                     .host = host_name(host, host_text),
                                                     .rack = rack_name(rack, rack_text),
                                                     .priority = profile,
                                                     .memory_mb = 1024};
                yarn_allocator_allocated(&w->allocator, &granted, 1);
                world_drain(w);
                if (w->containers.data[n].state == SIM_GRANTED)
                        world_chance_violate(&w->chance, "container %zu is neither launched nor given back", n);
        }
}

static void world_end(struct yarn_world *w, size_t n, int status)
{
        const struct yarn_completed completed = {.id = world_id(n), .exit_status = status, .state = "COMPLETE"};
        w->used[w->containers.data[n].host]--;
        w->containers.data[n].state = SIM_ENDED;
        yarn_allocator_completed(&w->allocator, &completed, w->now);
        world_drain(w);
        const struct simulated_container *c = &w->containers.data[n];
        if (c->executor && c->exited == c->refused)
                world_chance_violate(&w->chance, "the end of executor %d is %s", c->executor,
                                     c->exited ? "reported, although it was never started" : "not reported");
}

static void world_answer_launch(struct yarn_world *w, size_t n, bool refuse)
{
        if (refuse) {
                w->refused++;
                w->containers.data[n].refused = true;
                yarn_allocator_launch_failed(&w->allocator, world_id(n), "refused");
        } else {
                w->containers.data[n].state = SIM_RUNNING;
                yarn_allocator_launched(&w->allocator, world_id(n));
        }
        world_drain(w);
}

static void world_lose_node(struct yarn_world *w)
{
        const int host = (int)world_chance_draw(&w->chance, (uint32_t)w->request->hosts);
        w->lost++;
        for (size_t i = 0; i < w->containers.len; i++)
                if (w->containers.data[i].host == host && w->containers.data[i].state != SIM_ENDED)
                        world_end(w, i, -100);
}

static void world_restart(struct yarn_world *w)
{
        const struct yarn_request *r = w->request;
        w->restarted++;
        memset(w->any, 0, sizeof(*w->any) * (size_t)r->profiles);
        memset(w->racks, 0, sizeof(*w->racks) * (size_t)(r->racks * r->profiles));
        memset(w->hosts, 0, sizeof(*w->hosts) * (size_t)(r->hosts * r->profiles));
        memset(w->excluded, 0, sizeof(*w->excluded) * (size_t)r->hosts);
        yarn_allocator_resend(&w->allocator, w->now);
        world_drain(w);
}

/* Asks the executors on a node that leaves to finish. They end with the next heartbeat. */
static void world_leave(struct yarn_world *w)
{
        char text[NAME_SIZE];
        const int host = (int)world_chance_draw(&w->chance, (uint32_t)w->request->hosts);
        w->left++;
        yarn_allocator_decommissioning(&w->allocator, host_name(host, text));
        world_drain(w);
        for (size_t i = 0; i < w->containers.len; i++) {
                const struct simulated_container *c = &w->containers.data[i];
                if (c->host == host && c->state == SIM_RUNNING && !c->finishing)
                        world_chance_violate(&w->chance, "executor %d on a leaving node is not told to finish",
                                             c->executor);
        }
}

/* The driver excludes another host if @one_more, and ends exclusions that are over. */
static void world_update_exclusions(struct yarn_world *w, bool one_more)
{
        const int n = w->request->hosts;
        char(*names)[NAME_SIZE] = mem_alloc((size_t)n * NAME_SIZE);
        const char **list = new_array(const char *, (size_t)n);
        size_t len = 0;
        if (one_more) {
                w->exclusions++;
                w->excluded_until[world_chance_draw(&w->chance, (uint32_t)n)] = w->heartbeats + EXCLUDED_HEARTBEATS;
        }
        for (int i = 0; i < n; i++) {
                if (w->excluded_until[i] <= w->heartbeats)
                        w->excluded_until[i] = 0;
                else
                        list[len++] = host_name(i, names[i]);
        }
        yarn_allocator_set_excluded(&w->allocator, list, len, w->now);
        world_drain(w);
        for (int i = 0; i < n; i++)
                if (w->excluded[i] != (w->excluded_until[i] > 0))
                        world_chance_violate(&w->chance, "the ResourceManager takes host%d to be %s", i,
                                             w->excluded[i] ? "excluded" : "included");
        free(list);
        free(names);
}

/* One heartbeat, and what happens until the next. */
static void world_round(struct yarn_world *w, bool faults)
{
        const struct yarn_request *r = w->request;
        w->now += HEARTBEAT_NS;
        w->heartbeats++;
        yarn_allocator_update(&w->allocator, w->now);
        world_drain(w);
        for (int profile = 0; profile < r->profiles; profile++)
                world_grant(w, profile);
        for (size_t i = 0; i < w->containers.len; i++) {
                const enum simulated_state state = w->containers.data[i].state;
                if (state == SIM_LAUNCHING) {
                        world_answer_launch(w, i, faults && world_chance_happens(&w->chance, r->launch_failures));
                } else if (state == SIM_RELEASED) {
                        world_end(w, i, -100);
                } else if (w->containers.data[i].finishing) {
                        world_end(w, i, 0);
                } else if (state == SIM_RUNNING && faults && world_chance_happens(&w->chance, r->failures)) {
                        w->failed++;
                        world_end(w, i, 1);
                }
        }
        if (faults && world_chance_happens(&w->chance, r->lost_nodes))
                world_lose_node(w);
        if (faults && world_chance_happens(&w->chance, r->leaving_nodes))
                world_leave(w);
        world_update_exclusions(w, faults && world_chance_happens(&w->chance, r->exclusions));
        if (faults && world_chance_happens(&w->chance, r->restarts))
                world_restart(w);
}

/* ----------------------------------------------------------------------------------------------------------- a run */

/* @total executors, divided among the profiles. */
static void world_set_target(struct yarn_world *w, int total)
{
        const int profiles = w->request->profiles;
        const size_t n = (size_t)w->request->hosts;
        struct yarn_host_tasks *hosts = new_array(struct yarn_host_tasks, n);
        char(*names)[NAME_SIZE] = mem_alloc(n * NAME_SIZE * 2);
        for (size_t i = 0; i < n; i++)
                hosts[i] = (struct yarn_host_tasks){.host = host_name((int)i, names[2 * i]),
                                                    .rack = rack_name((int)i % w->request->racks, names[2 * i + 1]),
                                                    .tasks = 1 + (int)world_chance_draw(&w->chance, 10)};
        struct yarn_target target = {.hosts = hosts, .n_hosts = n / 2}; /* the data is on half of them */
        for (size_t i = 0; i < target.n_hosts; i++)
                target.locality_tasks += hosts[i].tasks;
        for (target.profile = 0; target.profile < profiles; target.profile++) {
                target.total = total / profiles + (target.profile < total % profiles);
                yarn_allocator_set_targets(&w->allocator, &target, 1);
        }
        world_drain(w);
        free(hosts);
        free(names);
}

/* Heartbeats without faults until @running executors run and nothing is pending. */
static void world_settle(struct yarn_world *w, int running)
{
        for (int i = 0; !w->chance.violation && i < MAX_SETTLING_ROUNDS; i++) {
                world_round(w, false);
                if (yarn_allocator_count_running(&w->allocator) == running &&
                    yarn_allocator_count_pending(&w->allocator) == 0 &&
                    yarn_allocator_count_starting(&w->allocator) == 0)
                        return;
        }
        world_chance_violate(&w->chance, "%d executors run and %d are pending, although %d are wanted",
                             yarn_allocator_count_running(&w->allocator), yarn_allocator_count_pending(&w->allocator),
                             running);
}

static void world_check_end(struct yarn_world *w)
{
        world_round(w, false); /* containers that were given back end */
        world_round(w, false);
        for (size_t i = 0; i < w->containers.len; i++)
                if (w->containers.data[i].state != SIM_ENDED)
                        world_chance_violate(&w->chance, "container %zu is left in state %d", i,
                                             w->containers.data[i].state);
        for (int profile = 0; profile < w->request->profiles; profile++)
                if (w->any[profile])
                        world_chance_violate(&w->chance, "%d containers are still asked for", w->any[profile]);
}

static void world_run(struct yarn_world *w)
{
        const struct yarn_allocator_config config = {.max_executor_failures = INT32_MAX, .decommission = true};
        struct yarn_profile profile = {.memory_mb = 1024, .cores = 1, .tasks_per_executor = 1};
        yarn_allocator_init(&w->allocator, &config);
        for (; profile.id < w->request->profiles; profile.id++)
                yarn_allocator_add_profile(&w->allocator, &profile);
        world_set_target(w, w->request->containers);
        for (int i = 0; !w->chance.violation && i < w->request->rounds; i++)
                world_round(w, true);
        world_settle(w, w->request->containers);
        world_set_target(w, 0);
        for (size_t i = 0; i < w->executors.len; i++)
                yarn_allocator_kill(&w->allocator, (int32_t)i + 1);
        world_drain(w);
        world_settle(w, 0);
        world_check_end(w);
        yarn_allocator_deinit(&w->allocator);
}

static int simulate_yarn_run(const struct yarn_request *r, uint64_t seed)
{
        struct yarn_world w = {.request = r, .chance = world_chance_of_seed(seed)};
        w.any = new_array(int, (size_t)r->profiles);
        w.racks = new_array(int, (size_t)(r->racks * r->profiles));
        w.hosts = new_array(int, (size_t)(r->hosts * r->profiles));
        w.excluded = new_array(bool, (size_t)r->hosts);
        w.excluded_until = new_array(int, (size_t)r->hosts);
        w.used = new_array(int, (size_t)r->hosts);
        w.room = r->containers / r->hosts * 2 + 2;
        const int64_t start = now_ns();
        world_run(&w);
        const double seconds = (double)(now_ns() - start) / 1e9;
        if (r->json)
                printf("{\"seed\": %" PRIu64
                       ", \"containers\": %zu, \"heartbeats\": %d, \"failed\": %d, \"refused\": %d, "
                       "\"lostNodes\": %d, \"leavingNodes\": %d, \"exclusions\": %d, \"restarts\": %d, \"seconds\": %.3f, \"violation\": %s%s%s}\n",
                       seed, w.containers.len, w.heartbeats, w.failed, w.refused, w.lost, w.left, w.exclusions,
                       w.restarted, seconds, w.chance.violation ? "\"" : "",
                       w.chance.violation ? w.chance.violation : "null", w.chance.violation ? "\"" : "");
        else
                printf("seed %" PRIu64
                       ": %zu containers in %d heartbeats, %d failed, %d refused, %d nodes lost, %d left, "
                       "%d exclusions, %d restarts, %.3f s\n",
                       seed, w.containers.len, w.heartbeats, w.failed, w.refused, w.lost, w.left, w.exclusions,
                       w.restarted, seconds);
        if (w.chance.violation)
                fprintf(stderr, "Error: seed %" PRIu64 ": %s\n", seed, w.chance.violation);
        const int status = w.chance.violation ? 1 : 0;
        free(w.chance.violation);
        free(w.any);
        free(w.excluded);
        free(w.excluded_until);
        free(w.racks);
        free(w.hosts);
        free(w.used);
        vec_deinit(&w.containers);
        vec_deinit(&w.executors);
        return status;
}

/* --------------------------------------------------------------------------------------------------------- options */

static int simulate_yarn_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s '%s' (see `firesteel simulate --yarn --help`)\n", problem, word);
        return 2;
}

/* Reads a number from @least to @most. */
static bool simulate_parse_number(const char *text, double least, double most, double *out)
{
        char *end;
        const double value = strtod(text, &end);
        if (end == text || *end || !(value >= least && value <= most))
                return false;
        *out = value;
        return true;
}

/* Reads "7", or "1..100" with an end not below the begin. */
static bool simulate_parse_seeds(const char *text, uint64_t *first, uint64_t *last)
{
        char *end;
        *first = *last = strtoull(text, &end, 10);
        if (strncmp(end, "..", 2) == 0 && end[2] >= '0' && end[2] <= '9')
                *last = strtoull(end + 2, &end, 10);
        return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *first <= *last;
}

bool simulate_set_option(const struct simulate_option *options, size_t n, const struct simulate_common *common,
                         const char *name, const char *value, bool *known)
{
        double number;
        *known = true;
        for (size_t i = 0; i < n; i++) {
                if (strcmp(options[i].name, name) != 0)
                        continue;
                if (!simulate_parse_number(value, options[i].least, options[i].most, &number))
                        return false;
                if (options[i].probability)
                        *options[i].probability = number;
                else
                        *options[i].count = (int)number;
                return true;
        }
        if (strcmp(name, "--seed") == 0 || strcmp(name, "--seeds") == 0)
                return simulate_parse_seeds(value, common->seed, common->last_seed);
        *known = strcmp(name, "--output") == 0;
        *common->json = *known && strcmp(value, "json") == 0;
        return *common->json || strcmp(value, "text") == 0;
}

static bool yarn_request_set(struct yarn_request *r, const char *name, const char *value, bool *known)
{
        const struct simulate_option options[] = {
                {"--containers", &r->containers, NULL, 1, 1000000},
                {"--hosts", &r->hosts, NULL, 1, 100000},
                {"--racks", &r->racks, NULL, 1, 10000},
                {"--profiles", &r->profiles, NULL, 1, 100},
                {"--rounds", &r->rounds, NULL, 0, 100000},
                {"--failures", NULL, &r->failures, 0, 1},
                {"--launch-failures", NULL, &r->launch_failures, 0, 1},
                {"--lost-nodes", NULL, &r->lost_nodes, 0, 1},
                {"--leaving-nodes", NULL, &r->leaving_nodes, 0, 1},
                {"--exclusions", NULL, &r->exclusions, 0, 1},
                {"--restarts", NULL, &r->restarts, 0, 1},
        };
        const struct simulate_common common = {&r->seed, &r->last_seed, &r->json};
        return simulate_set_option(options, ARRAY_SIZE(options), &common, name, value, known);
}

int simulate_yarn(int argc, char **argv)
{
        struct yarn_request r = {
                .containers = 10000, .hosts = 200, .racks = 10, .profiles = 1, .rounds = 20, .seed = 1, .last_seed = 1};
        int status = 0;
        for (int i = 1; i < argc; i++) {
                bool known;
                if (strcmp(argv[i], "--yarn") == 0)
                        continue;
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(simulate_yarn_help, stdout) < 0;
                const bool valid = yarn_request_set(&r, argv[i], i + 1 < argc ? argv[i + 1] : "", &known);
                if (!known)
                        return simulate_yarn_usage("unknown option", argv[i]);
                if (i + 1 == argc)
                        return simulate_yarn_usage("a value is missing after", argv[i]);
                if (!valid)
                        return simulate_yarn_usage("invalid value:", argv[i + 1]);
                i++;
        }
        for (uint64_t seed = r.seed; seed <= r.last_seed; seed++)
                status = MAX(status, simulate_yarn_run(&r, seed));
        return fflush(stdout) == 0 ? status : 1;
}
