/*
 * The core that allocates containers: each pair of bytes is an event and its argument, from a ResourceManager that
 * follows no rules: it grants containers without a request, ends containers twice, ends unknown ones, and names any
 * containers as those of an earlier attempt. Executor ids rise, and an executor is reported as exited at most once, and
 * only after its launch or if an earlier ApplicationMaster had it.
 */
#include "base/mem.h"
#include "yarn/allocator/yarn_allocator.h"

#include <stdlib.h>

#define N_HOSTS 4
#define MAX_EVENTS 2000
#define N_EARLIER 2 /* executors of an earlier ApplicationMaster */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const host_names[N_HOSTS] = {"a", "b", "c", "d"};

struct fuzzed {
        struct yarn_allocator a;
        int32_t last_executor;
        bool exited[MAX_EVENTS * 2 + N_EARLIER];
};

static struct yarn_container_id fuzzed_id(uint8_t n)
{
        return (struct yarn_container_id){.application = {.cluster_timestamp = 1, .id = 1}, .attempt = 1, .id = n};
}

static void fuzzed_drain(struct fuzzed *f)
{
        for (const struct yarn_action *x; (x = yarn_allocator_next_action(&f->a));) {
                if (x->kind == YARN_ACTION_ASK && x->ask.count < 0)
                        abort();
                if (x->kind == YARN_ACTION_LAUNCH) {
                        if (x->launch.executor != f->last_executor + 1)
                                abort();
                        f->last_executor = x->launch.executor;
                }
                if (x->kind == YARN_ACTION_EXECUTOR_EXITED) {
                        if (x->exited.executor < 1 || x->exited.executor > f->last_executor ||
                            f->exited[x->exited.executor])
                                abort();
                        f->exited[x->exited.executor] = true;
                }
        }
}

static void fuzzed_event(struct fuzzed *f, uint8_t kind, uint8_t n, int64_t now)
{
        static const int statuses[] = {0, 1, 137, -100, -102, -103, -104, -1000};
        const char *host = host_names[n % N_HOSTS];
        const struct yarn_host_tasks preferred = {.host = host, .rack = n & 4 ? "/rack" : NULL, .tasks = n % 7};
        const struct yarn_target target = {.profile = n & 1,
                                           .total = n % 32,
                                           .locality_tasks = preferred.tasks,
                                           .hosts = &preferred,
                                           .n_hosts = n & 2 ? 1 : 0};
        const struct yarn_granted granted = {.id = fuzzed_id(n),
                                             .host = host,
                                             .rack = n & 4 ? "/rack" : NULL,
                                             .priority = n >> 6,
                                             .memory_mb = 1024};
        const struct yarn_completed completed = {.id = fuzzed_id(n),
                                                 .exit_status = statuses[n % ARRAY_SIZE(statuses)],
                                                 .state = "COMPLETE",
                                                 .diagnostics = n & 8 ? "killed" : NULL};
        switch (kind % 10) {
        case 0:
                yarn_allocator_set_targets(&f->a, &target, 1);
                yarn_allocator_set_excluded(&f->a, &host, n >> 7, now);
                break;
        case 1:
                yarn_allocator_update(&f->a, now);
                break;
        case 2:
        case 3:
                yarn_allocator_allocated(&f->a, &granted, 1);
                break;
        case 4:
                yarn_allocator_completed(&f->a, &completed, now);
                break;
        case 5:
                yarn_allocator_launched(&f->a, fuzzed_id(n));
                break;
        case 6:
                yarn_allocator_launch_failed(&f->a, fuzzed_id(n), "refused");
                break;
        case 7:
                yarn_allocator_kill(&f->a, n);
                break;
        case 8:
                yarn_allocator_decommissioning(&f->a, host);
                break;
        case 9:
                if (n & 128)
                        yarn_allocator_adopt(&f->a, &granted, n >> 6 & 1);
                else
                        yarn_allocator_resend(&f->a, now);
                break;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct yarn_allocator_config config = {
                .max_executor_failures = 1000,
                .decommission = true,
                .health = {.exclude_on_launch_failure = true, .max_failures = 2, .timeout = 1000}};
        struct fuzzed *f = new0(struct fuzzed);
        struct yarn_failure failure = {0};
        yarn_allocator_init(&f->a, &config);
        for (int32_t i = 1; i <= N_EARLIER; i++)
                yarn_allocator_expect(&f->a,
                                      &(struct yarn_kept){.container = fuzzed_id((uint8_t)(0xc0 + i)),
                                                          .executor = i,
                                                          .profile = i,
                                                          .host = host_names[i]},
                                      1);
        f->last_executor = N_EARLIER;
        for (int32_t i = 0; i < 2; i++) {
                const struct yarn_profile profile = {.id = i, .memory_mb = 1024, .cores = 2, .tasks_per_executor = 2};
                yarn_allocator_add_profile(&f->a, &profile);
        }
        for (size_t i = 0; i + 1 < size && i / 2 < MAX_EVENTS; i += 2) {
                fuzzed_event(f, data[i], data[i + 1], (int64_t)i * 10);
                fuzzed_drain(f);
                if (yarn_allocator_count_running(&f->a) < 0 || yarn_allocator_count_starting(&f->a) < 0 ||
                    yarn_allocator_count_pending(&f->a) < 0)
                        abort();
        }
        if (yarn_allocator_failure(&f->a, (int64_t)size * 10, &failure))
                free(failure.message);
        yarn_allocator_deinit(&f->a);
        free(f);
        return 0;
}
