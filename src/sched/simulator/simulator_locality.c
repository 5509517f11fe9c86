/*
 * Checks of task placement in a simulation: locality, exclusion, barrier stages.
 *
 * The preferred locations of a partition derive from the seed and the partition, so they need not be stored: an
 * executor that has it, or some hosts, some of them without executors and with only a rack. A walk of this file records
 * the preferences of a task set's tasks when the set begins. This file also counts failures and records the scheduler's
 * exclusions, to detect one that is missing.
 *
 * Only first attempts must wait for locality, and only for locations that were available since the set began. For later
 * events the set may be at a farther level already, as in Spark.
 */
#include "sched/simulator/simulation.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------------- preferred locations */

static int host_count(const struct sim *sim)
{
        return sim->o.hosts + MAX(sim->o.racks, 1); /* the last have no executors */
}

static int rack_of(const struct sim *sim, int host)
{
        return sim->o.racks > 0 ? host % sim->o.racks : -1;
}

/* Returns the locations of @partition of @rdd, at most 3. */
static int simulator_locality_places_of(const struct sim *sim, const struct lineage *rdd, int partition,
                                        struct sim_place *out)
{
        uint64_t dice = sim_hash(sim, 1, (uint64_t)rdd->id, (uint64_t)partition);

        if ((double)(dice >> 11) * 0x1p-53 >= sim->o.locality)
                return 0;
        dice = sim_hash(sim, 2, (uint64_t)rdd->id, (uint64_t)partition);
        if (dice % 2 && sim->executors.len > 0) {
                int e = (int)((dice >> 8) % sim->executors.len);

                out[0] = (struct sim_place){e, sim->executors.data[e].host};
                return 1;
        }
        int n = 1 + (int)((dice >> 4) % 3);

        for (int i = 0; i < n; i++)
                out[i] = (struct sim_place){-1, (int32_t)((dice >> (8 + 16 * i)) % (uint32_t)host_count(sim))};
        return n;
}

bool sim_may_prefer(void *owner, const struct lineage *rdd)
{
        const struct sim *sim = owner;

        return sim->o.locality > 0 && container_of(rdd, struct sim_rdd, lineage)->located;
}

int sim_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        struct sim *sim = owner;
        struct sim_place places[3];
        int n = sim_may_prefer(sim, rdd) ? MIN(simulator_locality_places_of(sim, rdd, partition, places), max) : 0;

        for (int i = 0; i < n; i++) {
                snprintf(sim->names[i], sizeof(sim->names[i]), "host%d", places[i].host);
                out[i] = (struct task_location){.executor = places[i].executor, .host = sim->names[i]};
        }
        return n;
}

const char *sim_rack(void *owner, const char *host)
{
        struct sim *sim = owner;

        if (sim->o.racks <= 0)
                return NULL;
        snprintf(sim->names[3], sizeof(sim->names[3]), "rack%d", rack_of(sim, atoi(host + strlen("host"))));
        return sim->names[3];
}

/* Searches as Spark does: the partition itself, then its narrow dependencies, the first one first. */
static int simulator_locality_walk(const struct sim *sim, const struct lineage *rdd, int partition,
                                   struct sim_place *out, int *steps)
{
        int n = 0;

        if (--*steps < 0)
                return 0;
        if (sim_may_prefer((void *)sim, rdd))
                n = simulator_locality_places_of(sim, rdd, partition, out);
        for (int d = 0; d < rdd->n_deps && n == 0; d++) {
                const struct lineage *parent = rdd->deps[d].parent;
                int64_t from = parent->partitions, to = rdd->partitions;
                int first = from == to ? partition : (int)(partition * from / to);
                int end = from == to ? partition + 1 : (int)((partition + 1) * from / to);

                if (rdd->deps[d].kind == LINEAGE_NARROW)
                        for (int p = first; p < end && n == 0; p++)
                                n = simulator_locality_walk(sim, parent, p, out, steps);
        }
        return n;
}

void sim_places_begin(struct sim *sim, struct sim_set *s, const struct task_set *set)
{
        if (sim->o.locality <= 0)
                return;
        s->first = new_array(int32_t, (size_t)set->n + 1);
        for (int i = 0; i < set->n; i++) {
                struct sim_place places[3];
                int steps = 100000;
                int n = simulator_locality_walk(sim, set->stage->lineage, task_set_partition(set, i), places, &steps);

                for (int k = 0; k < n; k++)
                        vec_push(&s->places, places[k]);
                s->first[i + 1] = (int32_t)s->places.len;
        }
}

void sim_places_end(struct sim_set *s)
{
        free(s->first);
        vec_deinit(&s->places);
        vec_deinit(&s->failures);
        vec_deinit(&s->excluded);
        vec_deinit(&s->excluded_hosts);
}

/* --------------------------------------------------------------------------------------------------- locality */

static enum task_locality simulator_locality_nearness(const struct sim *sim, const struct sim_place *place,
                                                      int executor)
{
        int host = sim->executors.data[executor].host;

        if (place->executor == executor)
                return LOCALITY_PROCESS_LOCAL;
        if (place->host == host)
                return LOCALITY_NODE_LOCAL;
        return sim->o.racks > 0 && rack_of(sim, place->host) == rack_of(sim, host) ? LOCALITY_RACK_LOCAL : LOCALITY_ANY;
}

static bool simulator_locality_usable(const struct sim *sim, int executor)
{
        const struct sim_executor *e = &sim->executors.data[executor];

        return e->known && e->enabled && !e->excluded && !sim->hosts.data[e->host].excluded;
}

/* Returns the nearest level of @n locations on an executor that was usable since the event @since. */
static enum task_locality best_level(const struct sim *sim, const struct sim_place *places, int n, int64_t since)
{
        enum task_locality best = LOCALITY_ANY;

        for (size_t e = 0; e < sim->executors.len && best > LOCALITY_PROCESS_LOCAL; e++) {
                if (!simulator_locality_usable(sim, (int)e) || sim->executors.data[e].usable_since > since)
                        continue;
                for (int i = 0; i < n; i++)
                        best = MIN(best, simulator_locality_nearness(sim, &places[i], (int)e));
        }
        return best;
}

static void check_locality(struct sim *sim, const struct sim_set *s, int executor, const struct task_launch *task)
{
        const struct locality_config *config = &sim->o.config.locality;
        const struct sim_place *places = s->places.data + s->first[task->index];
        int n = s->first[task->index + 1] - s->first[task->index];
        enum task_locality level = LOCALITY_ANY, best;
        int64_t wait = 0;

        if (n == 0)
                return;
        for (int i = 0; i < n; i++)
                level = MIN(level, simulator_locality_nearness(sim, &places[i], executor));
        sim_check(sim, task->locality >= level, "task %d of stage %d.%d is launched as %s, but is %s", task->index,
                  s->stage, s->attempt, locality_name(task->locality), locality_name(level));
        if (task->attempt > 0 || task->speculative || s->barrier)
                return;
        sim->report->levels[level]++;
        if (level == LOCALITY_PROCESS_LOCAL)
                return;
        best = best_level(sim, places, n, s->began);
        if (best <= LOCALITY_PROCESS_LOCAL)
                wait += config->wait_process;
        if (best <= LOCALITY_NODE_LOCAL && level > LOCALITY_NODE_LOCAL)
                wait += config->wait_node;
        if (best <= LOCALITY_RACK_LOCAL && level > LOCALITY_RACK_LOCAL && sim->o.racks > 0)
                wait += config->wait_rack;
        sim_check(sim, sim->now - s->submitted >= wait,
                  "task %d of stage %d.%d is launched on executor %d at level %s after %.6f s, but %s is available, "
                  "for which it waits %.6f s",
                  task->index, s->stage, s->attempt, executor, locality_name(level),
                  (double)(sim->now - s->submitted) / 1e9, locality_name(best), (double)wait / 1e9);
}

/* -------------------------------------------------------------------------------------------------- exclusion */

static bool simulator_locality_contains(const sim_numbers *list, int32_t number)
{
        for (size_t i = 0; i < list->len; i++)
                if (list->data[i] == number)
                        return true;
        return false;
}

static void excluded_from_all(struct sim *sim, const struct exclusion *what, int host)
{
        struct sim_executor *e = what->executor >= 0 ? &sim->executors.data[what->executor] : NULL;
        bool *flag = e ? &e->excluded : &sim->hosts.data[host].excluded;
        int64_t *at = e ? &e->excluded_at : &sim->hosts.data[host].excluded_at;

        sim_check(sim, *flag == what->lifted, "%s %d is excluded twice or included again twice",
                  e ? "executor" : "host", e ? what->executor : host);
        sim_check(sim, !what->lifted || sim->now - *at >= sim->o.config.exclusion.timeout,
                  "%s %d is included again after %.6f s", e ? "executor" : "host", e ? what->executor : host,
                  (double)(sim->now - *at) / 1e9);
        *flag = !what->lifted;
        *at = sim->now;
        for (size_t i = 0; i < sim->executors.len; i++)
                if (what->lifted && (e ? (int)i == what->executor : sim->executors.data[i].host == host))
                        sim->executors.data[i].usable_since = sim->report->events + 1;
}

void sim_excluded(void *owner, const struct exclusion *what)
{
        struct sim *sim = owner;
        struct sim_set *s = what->set ? what->set->user : NULL;
        int host = what->executor < 0 ? atoi(what->host + strlen("host")) : -1;

        sim->report->excluded += !what->lifted;
        if (!sim_check(sim, what->executor < (int)sim->executors.len && host < (int)sim->hosts.len,
                       "the unknown executor %d or host %d is excluded", what->executor, host))
                return;
        if (!what->set)
                excluded_from_all(sim, what, host);
        else if (s && what->executor >= 0)
                vec_push(&s->excluded, what->executor);
        else if (s)
                vec_push(&s->excluded_hosts, host);
}

void sim_places_failed(struct sim_set *s, int32_t index, int32_t executor)
{
        for (size_t i = 0; i < s->failures.len; i++)
                if (s->failures.data[i].index == index && s->failures.data[i].executor == executor) {
                        s->failures.data[i].count++;
                        return;
                }
        vec_push(&s->failures, (struct sim_failure){executor, index, 1});
}

/* Returns how many of the set's tasks failed on @executor. */
static int failed_on(const struct sim_set *s, int executor)
{
        int n = 0;

        for (size_t i = 0; i < s->failures.len; i++)
                n += s->failures.data[i].executor == executor;
        return n;
}

static void simulator_locality_check_exclusion(struct sim *sim, const struct sim_set *s, int executor)
{
        const struct exclusion_config *config = &sim->o.config.exclusion;
        const struct sim_executor *e = &sim->executors.data[executor];

        sim_check(sim, !e->excluded && !sim->hosts.data[e->host].excluded,
                  "stage %d.%d runs on excluded executor %d or host%d", s->stage, s->attempt, executor, e->host);
        if (!config->stage)
                return;
        sim_check(sim,
                  !simulator_locality_contains(&s->excluded, executor) &&
                          !simulator_locality_contains(&s->excluded_hosts, e->host),
                  "stage %d.%d runs on executor %d or host%d, excluded for this stage", s->stage, s->attempt, executor,
                  e->host);
        int failed = failed_on(s, executor), excluded = 0;

        sim_check(sim, failed < config->stage_max_failed_tasks_per_executor,
                  "stage %d.%d runs on executor %d, where %d of its tasks failed", s->stage, s->attempt, executor,
                  failed);
        for (size_t i = 0; i < s->excluded.len; i++)
                excluded += sim->executors.data[s->excluded.data[i]].host == e->host;
        sim_check(sim, excluded < config->stage_max_failed_executors_per_node,
                  "stage %d.%d runs on host%d, which has %d executors excluded for this stage", s->stage, s->attempt,
                  e->host, excluded);
}

static void check_task_exclusion(struct sim *sim, const struct sim_set *s, int executor, int32_t index)
{
        const struct exclusion_config *config = &sim->o.config.exclusion;
        int host = sim->executors.data[executor].host, here = 0, on_host = 0;

        if (!config->stage)
                return;
        for (size_t i = 0; i < s->failures.len; i++) {
                const struct sim_failure *f = &s->failures.data[i];

                if (f->index != index)
                        continue;
                here += f->executor == executor ? f->count : 0;
                on_host += sim->executors.data[f->executor].host == host ? f->count : 0;
        }
        sim_check(sim, here < config->max_task_attempts_per_executor && on_host < config->max_task_attempts_per_node,
                  "task %d of stage %d.%d runs on executor %d, where it failed %d times, on its host %d times", index,
                  s->stage, s->attempt, executor, here, on_host);
}

/* ------------------------------------------------------------------------------------------------------ gangs */

void sim_barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        struct sim *sim = owner;
        const struct sim_set *s = set->user;

        sim->report->gangs++;
        sim_check(sim, s->barrier && n == s->n && !sim->gang && set->n_running == 0,
                  "%d of the %d tasks of barrier stage %s are being launched", n, s->n, set->id);
        sim->gang = s;
        sim->gang_next = 0;
        sim->gang_on.len = 0;
        for (int i = 0; i < n; i++)
                vec_push(&sim->gang_on, executors[i]);
}

static void check_gang(struct sim *sim, const struct sim_set *s, int executor, const struct task_launch *task, int n)
{
        if (!sim_check(sim, !sim->gang || sim->gang == s,
                       "stage %d.%d launches a task between those of barrier stage %d.%d", s->stage, s->attempt,
                       sim->gang->stage, sim->gang->attempt) ||
            !s->barrier)
                return;
        if (!sim_check(sim, sim->gang == s && n == 1 && sim->gang_next < (int)sim->gang_on.len,
                       "task %d of barrier stage %d.%d is launched without the others", task->index, s->stage,
                       s->attempt))
                return;
        sim_check(
                sim, task->index == sim->gang_next && executor == sim->gang_on.data[sim->gang_next],
                "task %d of barrier stage %d.%d is launched on executor %d instead of the announced task %d on executor %d",
                task->index, s->stage, s->attempt, executor, sim->gang_next, sim->gang_on.data[sim->gang_next]);
        if (++sim->gang_next == s->n)
                sim->gang = NULL;
}

/* ------------------------------------------------------------------------------------------------------- all */

void sim_places_check(struct sim *sim, int executor, const struct task_set *set, const struct task_launch *run, int n)
{
        const struct sim_set *s = set->user;

        check_gang(sim, s, executor, &run[0], n);
        simulator_locality_check_exclusion(sim, s, executor);
        for (int i = 0; i < n; i++) {
                sim->report->speculative += run[i].speculative;
                if (s->failures.len > 0)
                        check_task_exclusion(sim, s, executor, run[i].index);
                if (s->first)
                        check_locality(sim, s, executor, &run[i]);
        }
}

void sim_places_check_turn(struct sim *sim)
{
        if (!sim_check(sim, !sim->gang, "only %d of the %d tasks of barrier stage %d.%d were launched", sim->gang_next,
                       sim->gang->n, sim->gang->stage, sim->gang->attempt))
                sim->gang = NULL;
}
