/*
 * Random worlds for the core that allocates containers: a ResourceManager with its own table of requests, nodes that
 * are lost, containers that fail, launches that fail, targets that change, a ResourceManager that forgets everything.
 * Some begin with executors of an earlier ApplicationMaster: the ResourceManager has kept the containers of most of
 * them, and containers that nobody knows.
 *
 * Checked in each world: a container is launched, adopted or given back; no executor id comes twice; each executor
 * whose launch did not fail is reported exactly once; with a quiet cluster the target is reached; and the
 * ResourceManager's table then holds nothing. A large world is timed by its own counters: 10,000 containers.
 */
#include "yarn/allocator/yarn_allocator.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define N_HOSTS 40
#define N_RACKS 4
#define N_PROFILES 3
#define MAX_CONTAINERS 20000

enum sim_state { SIM_GRANTED, SIM_LAUNCHING, SIM_RUNNING, SIM_RELEASING, SIM_LAUNCH_FAILED, SIM_ENDED };

struct sim_container {
        enum sim_state state;
        int host;
        int32_t executor;
        bool reported;
        bool kept; /* since an earlier ApplicationMaster, and still there */
};

struct world {
        uint64_t seed;
        struct yarn_allocator a;
        int table[N_PROFILES][1 + N_RACKS + N_HOSTS]; /* the ResourceManager's rows: "*", racks, hosts */
        struct sim_container *containers;
        int n_containers, executors[MAX_CONTAINERS]; /* executor → container */
        int32_t last_executor;
        bool excluded[N_HOSTS];
        char hosts[N_HOSTS][16], racks[N_RACKS][16];
        int64_t now;
};

static uint32_t world_random(struct world *w, uint32_t below)
{
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(w->seed >> 33) % below;
}

static int world_row(const struct world *w, const char *location)
{
        if (strcmp(location, "*") == 0)
                return 0;
        for (int i = 0; i < N_RACKS; i++)
                if (strcmp(location, w->racks[i]) == 0)
                        return 1 + i;
        for (int i = 0; i < N_HOSTS; i++)
                if (strcmp(location, w->hosts[i]) == 0)
                        return 1 + N_RACKS + i;
        fail_msg("an ask for the unknown place %s", location);
        return 0;
}

static struct yarn_container_id world_id(int n)
{
        return (struct yarn_container_id){.application = {1, 1}, .attempt = 1, .id = n + 1};
}

static struct sim_container *world_container(struct world *w, struct yarn_container_id id)
{
        assert_in_range(id.id, 1, w->n_containers);
        return &w->containers[id.id - 1];
}

static void world_do(struct world *w, const struct yarn_action *x)
{
        struct sim_container *c;
        switch (x->kind) {
        case YARN_ACTION_ASK:
                assert_true(x->ask.count >= 0);
                w->table[x->ask.profile][world_row(w, x->ask.location)] = x->ask.count;
                break;
        case YARN_ACTION_RELEASE:
                c = world_container(w, x->container);
                assert_true(c->state != SIM_ENDED || c->executor == 0);
                if (c->state != SIM_LAUNCH_FAILED && c->state != SIM_ENDED)
                        c->state = SIM_RELEASING;
                break;
        case YARN_ACTION_LAUNCH:
                c = world_container(w, x->launch.container);
                assert_int_equal(c->state, SIM_GRANTED);
                assert_true(x->launch.executor > w->last_executor);
                w->last_executor = x->launch.executor;
                assert_in_range(x->launch.executor, 1, MAX_CONTAINERS - 1);
                w->executors[x->launch.executor] = (int)(c - w->containers);
                c->state = SIM_LAUNCHING;
                c->executor = x->launch.executor;
                break;
        case YARN_ACTION_EXECUTOR_EXITED:
                c = &w->containers[w->executors[x->exited.executor]];
                assert_int_equal(c->executor, x->exited.executor);
                assert_false(c->reported);
                c->reported = true;
                break;
        case YARN_ACTION_EXCLUDE:
                w->excluded[world_row(w, x->host) - 1 - N_RACKS] = true;
                break;
        case YARN_ACTION_INCLUDE:
                w->excluded[world_row(w, x->host) - 1 - N_RACKS] = false;
                break;
        case YARN_ACTION_DECOMMISSION:
        case YARN_ACTION_LOG:
                break;
        }
}

static void world_drain(struct world *w)
{
        for (const struct yarn_action *x; (x = yarn_allocator_next_action(&w->a));)
                world_do(w, x);
}

/* Grants a container by the ResourceManager's rules: rows of the host, of its rack, of "*". False: nothing is asked. */
static bool world_grant(struct world *w, int profile)
{
        int *table = w->table[profile], host = (int)world_random(w, N_HOSTS);
        if (table[0] == 0 || w->n_containers == MAX_CONTAINERS)
                return false;
        for (int i = 0; i < N_HOSTS && world_random(w, 4); i++)
                if (table[1 + N_RACKS + i] > 0)
                        host = i;
        const int rack = host % N_RACKS;
        if (table[1 + N_RACKS + host] > 0)
                table[1 + N_RACKS + host]--;
        if (table[1 + rack] > 0)
                table[1 + rack]--;
        table[0]--;
        w->containers[w->n_containers] = (struct sim_container){.state = SIM_GRANTED, .host = host};
        const struct yarn_granted g = {.id = world_id(w->n_containers++),
                                       .host = w->hosts[host],
                                       .rack = w->racks[rack],
                                       .priority = profile,
                                       .memory_mb = 1024};
        yarn_allocator_allocated(&w->a, &g, 1);
        world_drain(w);
        const struct sim_container *c = &w->containers[w->n_containers - 1];
        assert_true(c->state == SIM_LAUNCHING || c->state == SIM_RELEASING);
        return true;
}

static void world_end(struct world *w, int n, int status)
{
        const struct yarn_completed done = {.id = world_id(n), .exit_status = status, .state = "COMPLETE"};
        struct sim_container *c = &w->containers[n];
        const bool had_executor = c->executor && c->state != SIM_LAUNCH_FAILED;
        c->state = SIM_ENDED;
        yarn_allocator_completed(&w->a, &done, w->now);
        world_drain(w);
        assert_int_equal(c->reported, had_executor);
}

static void world_answer_launch(struct world *w, int n, bool failed)
{
        struct sim_container *c = &w->containers[n];
        if (failed) {
                c->state = SIM_LAUNCH_FAILED;
                yarn_allocator_launch_failed(&w->a, world_id(n), "refused");
        } else {
                c->state = SIM_RUNNING;
                yarn_allocator_launched(&w->a, world_id(n));
        }
        world_drain(w);
}

static void world_set_targets(struct world *w, int most)
{
        struct yarn_host_tasks hosts[6];
        struct yarn_target t = {.profile = (int32_t)world_random(w, N_PROFILES),
                                .total = (int)world_random(w, (uint32_t)most),
                                .hosts = hosts,
                                .n_hosts = world_random(w, 7)};
        const char *excluded[2];
        const size_t n_excluded = world_random(w, 3);
        const uint32_t first = world_random(w, N_HOSTS);
        for (size_t i = 0; i < t.n_hosts; i++) {
                const uint32_t h = (first + (uint32_t)i * 3) % N_HOSTS;
                hosts[i] = (struct yarn_host_tasks){w->hosts[h], w->racks[h % N_RACKS], (int)world_random(w, 20)};
                t.locality_tasks += hosts[i].tasks;
        }
        for (size_t i = 0; i < n_excluded; i++)
                excluded[i] = w->hosts[world_random(w, N_HOSTS)];
        yarn_allocator_set_targets(&w->a, &t, 1);
        yarn_allocator_set_excluded(&w->a, excluded, n_excluded, w->now);
        world_drain(w);
}

static void world_step(struct world *w)
{
        static const int statuses[] = {0, 1, 137, -100, -102, -104};
        const int n = w->n_containers ? (int)world_random(w, (uint32_t)w->n_containers) : -1;
        struct sim_container *c = n < 0 ? NULL : &w->containers[n];
        w->now += world_random(w, 1000000000);
        switch (world_random(w, 8)) {
        case 0:
                world_set_targets(w, 30);
                break;
        case 1:
        case 2:
                yarn_allocator_update(&w->a, w->now);
                world_drain(w);
                break;
        case 3:
        case 4:
                world_grant(w, (int)world_random(w, N_PROFILES));
                break;
        case 5:
                if (c && c->state == SIM_LAUNCHING)
                        world_answer_launch(w, n, world_random(w, 4) == 0);
                break;
        case 6:
                if (c && c->state != SIM_ENDED)
                        world_end(w, n, statuses[world_random(w, ARRAY_SIZE(statuses))]);
                break;
        case 7:
                if (world_random(w, 20) == 0) {
                        memset(w->table, 0, sizeof(w->table));
                        yarn_allocator_resend(&w->a, w->now);
                } else {
                        yarn_allocator_kill(&w->a, c && c->executor ? c->executor : 77777);
                }
                world_drain(w);
                break;
        }
}

/* No more failures: grants and answers until nothing is asked for. */
static void world_settle(struct world *w)
{
        for (int round = 0; round < 200; round++) {
                bool changed = false;
                yarn_allocator_update(&w->a, w->now);
                world_drain(w);
                for (int p = 0; p < N_PROFILES; p++)
                        while (world_grant(w, p))
                                changed = true;
                for (int i = 0; i < w->n_containers; i++) {
                        if (w->containers[i].state == SIM_LAUNCHING)
                                world_answer_launch(w, i, false);
                        if (w->containers[i].state == SIM_RELEASING || w->containers[i].state == SIM_LAUNCH_FAILED)
                                world_end(w, i, -100);
                }
                if (!changed)
                        break;
        }
        yarn_allocator_update(&w->a, w->now);
        world_drain(w);
        for (int p = 0; p < N_PROFILES; p++)
                for (int i = 0; i < 1 + N_RACKS + N_HOSTS; i++)
                        assert_int_equal(w->table[p][i], 0);
        assert_int_equal(yarn_allocator_count_pending(&w->a), 0);
        assert_int_equal(yarn_allocator_count_starting(&w->a), 0);
}

static void world_open(struct world *w, uint64_t seed)
{
        const struct yarn_allocator_config config = {
                .max_executor_failures = INT32_MAX,
                .health = {.exclude_on_launch_failure = seed % 2, .max_failures = 2, .timeout = 3600000000000}};
        *w = (struct world){.seed = seed * 77777 + 1, .containers = new_array(struct sim_container, MAX_CONTAINERS)};
        yarn_allocator_init(&w->a, &config);
        for (int p = 0; p < N_PROFILES; p++) {
                const struct yarn_profile profile = {.id = p, .memory_mb = 1024, .cores = 2, .tasks_per_executor = 2};
                yarn_allocator_add_profile(&w->a, &profile);
        }
        for (int i = 0; i < N_HOSTS; i++)
                snprintf(w->hosts[i], sizeof(w->hosts[i]), "host%d", i);
        for (int i = 0; i < N_RACKS; i++)
                snprintf(w->racks[i], sizeof(w->racks[i]), "/rack%d", i);
}

/* Executors of an earlier ApplicationMaster, and what the ResourceManager has kept. */
static void world_begin_with_kept(struct world *w)
{
        enum { N = 12 };
        struct yarn_kept expected[N];
        struct yarn_granted found[N];
        size_t n_expected = 0, n_found = 0;
        for (int i = 0; i < N; i++) {
                const int host = (int)world_random(w, N_HOSTS);
                struct sim_container *c = &w->containers[w->n_containers++];
                *c = (struct sim_container){.state = SIM_RUNNING, .host = host, .kept = world_random(w, 4) > 0};
                if (c->kept)
                        found[n_found++] = (struct yarn_granted){.id = world_id(i), .host = w->hosts[host]};
                if (!world_random(w, 4))
                        continue;
                c->executor = ++w->last_executor;
                w->executors[c->executor] = i;
                expected[n_expected++] = (struct yarn_kept){.container = world_id(i),
                                                            .executor = c->executor,
                                                            .profile = (int32_t)world_random(w, N_PROFILES),
                                                            .host = w->hosts[host]};
        }
        yarn_allocator_expect(&w->a, expected, n_expected);
        for (int i = 0; i < 4; i++)
                yarn_allocator_kill(&w->a, (int32_t)world_random(w, N + 1));
        world_set_targets(w, 30);
        yarn_allocator_adopt(&w->a, found, n_found);
        world_drain(w);
        for (int i = 0; i < N; i++) {
                struct sim_container *c = &w->containers[i];
                assert_int_equal(c->reported, !c->kept && c->executor);
                assert_true(c->executor || !c->kept || c->state == SIM_RELEASING);
                if (!c->kept) /* its end is reported, too */
                        c->state = SIM_RELEASING;
        }
}

static void world_close(struct world *w)
{
        yarn_allocator_deinit(&w->a);
        free(w->containers);
        free(w);
}

static int world_count(const struct world *w, enum sim_state s)
{
        int n = 0;
        for (int i = 0; i < w->n_containers; i++)
                n += w->containers[i].state == s;
        return n;
}

static void random_worlds_keep_every_container(void **state)
{
        for (uint64_t seed = 1; seed <= 60; seed++) {
                CASE_LABEL("seed %d", (int)seed);
                struct world *w = new0(struct world);
                world_open(w, seed);
                if (seed % 3 == 0)
                        world_begin_with_kept(w);
                for (int i = 0; i < 1500; i++)
                        world_step(w);
                world_settle(w);
                assert_int_equal(world_count(w, SIM_RUNNING), yarn_allocator_count_running(&w->a));
                world_close(w);
        }
}

static void ten_thousand_containers_are_placed(void **state)
{
        struct world *w = new0(struct world);
        struct yarn_host_tasks hosts[N_HOSTS];
        struct yarn_target t = {.total = 10000, .locality_tasks = 20000, .hosts = hosts, .n_hosts = N_HOSTS};
        world_open(w, 2);
        for (int i = 0; i < N_HOSTS; i++)
                hosts[i] = (struct yarn_host_tasks){w->hosts[i], w->racks[i % N_RACKS], 500};
        yarn_allocator_set_targets(&w->a, &t, 1);
        world_settle(w);
        assert_int_equal(yarn_allocator_count_running(&w->a), 10000);
        t.total = 0;
        yarn_allocator_set_targets(&w->a, &t, 1);
        for (int32_t e = 1; e <= w->last_executor; e++)
                yarn_allocator_kill(&w->a, e);
        world_settle(w);
        assert_int_equal(yarn_allocator_count_running(&w->a), 0);
        world_close(w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(random_worlds_keep_every_container),
                cmocka_unit_test(ten_thousand_containers_are_placed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
