/*
 * Resource profiles in a simulation: some random worlds have one or two beside the default one. Each executor belongs
 * to a profile and has two addresses of a "gpu". RDDs get profiles, whose tasks take other numbers of cores and parts
 * of the resource.
 *
 * Everything is derived from the seed without drawing numbers, so that worlds without profiles stay what they were. A
 * lost executor is replaced by one of the same profile. Without an executor a profile's stages would wait forever.
 */
#include "sched/simulator/simulation.h"

enum { SALT = 0x70726f66, GPUS = 2 };

static uint32_t simulator_profiles_roll(const struct sim *sim, uint64_t what, uint64_t which, uint32_t sides)
{
        return (uint32_t)(sim_hash(sim, SALT, what, which) >> 16) % sides;
}

void sim_profiles_draw(struct sim *sim)
{
        static const int64_t amounts[] = {0, RESOURCE_ONE / 4, RESOURCE_ONE, GPUS * RESOURCE_ONE};
        int n = simulator_profiles_roll(sim, 0, 0, 4) == 0 ? 1 + (int)simulator_profiles_roll(sim, 1, 0, 2) : 0;

        sim->n_profiles = n;
        sim->merges = simulator_profiles_roll(sim, 2, 0, 2);
        for (int i = 1; i <= n; i++) {
                struct sim_profile *p = &sim->profiles[i];
                bool any = simulator_profiles_roll(sim, 3, (uint64_t)i, 4) == 0;

                *p = (struct sim_profile){.cpus = any ? 1 : 1 + (int)simulator_profiles_roll(sim, 4, (uint64_t)i, 3),
                                          .any = any,
                                          .gpu = amounts[simulator_profiles_roll(sim, 5, (uint64_t)i, 4)]};
        }
        if (n > 0)
                sim->o.executors = MAX(sim->o.executors, n + 1);
}

int sim_profile_of_rdd(const struct sim *sim, int rdd)
{
        if (sim->n_profiles == 0 || simulator_profiles_roll(sim, 6, (uint64_t)rdd, 3))
                return 0;
        return 1 + (int)simulator_profiles_roll(sim, 7, (uint64_t)rdd, (uint32_t)sim->n_profiles);
}

int sim_register(struct sim *sim, const char *id, const char *host, int cores, int profile)
{
        static const char *const addresses[GPUS] = {"0", "1"};
        const struct executor_resource gpu = {"gpu", addresses, GPUS};

        return sched_register_executor(sim->s,
                                       &(struct executor_spec){.id = id,
                                                               .host = host,
                                                               .profile = profile,
                                                               .cores = cores,
                                                               .resources = sim->n_profiles ? &gpu : NULL,
                                                               .n_resources = sim->n_profiles > 0},
                                       sim->now);
}

const struct task_profile *sim_profile(void *owner, const int *ids, int n)
{
        struct sim *sim = owner;

        for (int i = 0; i < n; i++)
                if (!sim_check(sim, ids[i] > (i ? ids[i - 1] : 0) && ids[i] <= sim->n_profiles,
                               "the scheduler asks for the profile %d", ids[i]))
                        return NULL;
        if (n > 1 && !sim->merges)
                return NULL;
        const struct sim_profile *p = &sim->profiles[ids[n - 1]]; /* merged: the one with the highest id */

        sim->request = (struct resource_request){.name = (char *)"gpu", .amount = p->gpu};
        sim->answer = (struct task_profile){.id = ids[n - 1],
                                            .cpus = p->cpus,
                                            .any_executor = p->any,
                                            .requests = &sim->request,
                                            .n_requests = p->gpu > 0};
        return &sim->answer;
}

int sim_profile_of_stage(struct sim *sim, const struct lineage *rdd)
{
        VEC(const struct lineage *) list = {0};
        int profile = 0;

        vec_push(&list, rdd);
        for (size_t i = 0; i < list.len; i++) {
                const struct lineage *at = list.data[i];

                profile = MAX(profile, at->profile);
                for (int d = 0; d < at->n_deps && list.len < 10000; d++)
                        if (at->deps[d].kind == LINEAGE_NARROW)
                                vec_push(&list, at->deps[d].parent);
        }
        vec_deinit(&list);
        return profile;
}

void sim_profiles_check(struct sim *sim, const struct sim_executor *e, const struct sim_set *s,
                        const struct task_launch *task)
{
        const struct sim_profile *p = &sim->profiles[s->profile];
        int64_t amount = 0;

        sim_check(sim, e->used + p->cpus <= e->cores,
                  "an executor has %d cores, %d of them in use, and gets a task that needs %d", e->cores, e->used,
                  p->cpus);
        sim_check(sim, p->any || e->profile == s->profile,
                  "stage %d.%d of profile %d runs on an executor of profile %d", s->stage, s->attempt, s->profile,
                  e->profile);
        for (int i = 0; i < task->n_resources; i++)
                for (int k = 0; k < task->resources[i].n; k++) {
                        int at = task->resources[i].addresses[k][0] - '0';

                        amount += task->resources[i].amount;
                        sim_check(sim, e->gpu[at] + task->resources[i].amount <= RESOURCE_ONE,
                                  "stage %d.%d gets address %d, of which too little is free", s->stage, s->attempt, at);
                }
        sim_check(sim, amount == p->gpu, "stage %d.%d gets %lld parts of a resource instead of %lld", s->stage,
                  s->attempt, (long long)amount, (long long)p->gpu);
}

void sim_profiles_take(struct sim *sim, struct sim_executor *e, struct sim_run *run, const struct task_launch *task)
{
        run->cpus = sim->profiles[run->set->profile].cpus;
        e->used += run->cpus;
        run->gpu[0] = run->gpu[1] = 0;
        for (int i = 0; i < task->n_resources; i++)
                for (int k = 0; k < task->resources[i].n; k++)
                        run->gpu[task->resources[i].addresses[k][0] - '0'] = task->resources[i].amount;
        for (int i = 0; i < GPUS; i++)
                e->gpu[i] += run->gpu[i];
}

void sim_profiles_give(struct sim_executor *e, struct sim_run *run)
{
        e->used -= run->cpus;
        run->cpus = 0;
        for (int i = 0; i < GPUS; i++) {
                e->gpu[i] -= run->gpu[i];
                run->gpu[i] = 0;
        }
}
