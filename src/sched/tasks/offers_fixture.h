/* Fixture for tests of offers: an owner with configurable preferred locations that records operations. */
#pragma once

#include "base/log.h"
#include "sched/sched_fixture.h"

enum { SECOND = 1000000000 };

/* State of the scheduler's owner, and the operations that it got. */
static struct {
        struct task_location places[16][2]; /* by partition of RDD 0 */
        int n_places[16];
        int speculative, excluded, lifted, barriers, resets, unschedulable;
        struct exclusion last;
} world;

static inline int preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        if (rdd->id != 0 || partition >= 16)
                return 0;
        memcpy(out, world.places[partition], sizeof(*out) * (size_t)world.n_places[partition]);
        return world.n_places[partition];
}

static inline bool may_prefer(void *owner, const struct lineage *rdd)
{
        return rdd->id == 0;
}

static inline const char *rack(void *owner, const char *host)
{
        return host[0] == 'h' ? (host[1] < '3' ? "rack1" : "rack2") : NULL;
}

static inline void speculative_submitted(void *owner, struct task_set *set, int index)
{
        world.speculative++;
}

static inline void excluded(void *owner, const struct exclusion *what)
{
        world.last = *what;
        *(what->lifted ? &world.lifted : &world.excluded) += 1;
}

static inline void barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        world.barriers++;
        assert_int_equal(n, set->n);
}

static inline void outputs_reset(void *owner, struct job *job)
{
        world.resets++;
}

static inline void unschedulable(void *owner, struct task_set *set, bool yes)
{
        world.unschedulable += yes ? 1 : -1;
}

static struct sched_ops ops;

static inline void offers_begin(struct fix *f, const struct sched_config *config)
{
        memset(&world, 0, sizeof(world));
        ops = fix_ops;
        ops.preferred = preferred;
        ops.may_prefer = may_prefer;
        ops.rack = rack;
        ops.speculative_submitted = speculative_submitted;
        ops.excluded = excluded;
        ops.barrier_launching = barrier_launching;
        ops.outputs_reset = outputs_reset;
        ops.unschedulable = unschedulable;
        *f = (struct fix){.config = config ? *config : SCHED_CONFIG_DEFAULT, .run_ns = SECOND};
        f->s = sched_new(&f->config, &ops, f);
}

static inline int offers_add_executor(struct fix *f, const char *id, const char *host, int cores)
{
        return sched_add_executor(f->s, id, host, cores, f->now);
}

static inline void offers_prefer(int partition, int executor, const char *host)
{
        world.places[partition][world.n_places[partition]++] = (struct task_location){executor, host};
}

/* Asserts task, executor and level of the newest launch. */
static inline void check_launch(const struct fix *f, size_t number, int index, int executor, enum task_locality level)
{
        assert_true(number < f->tasks.len);
        assert_int_equal(f->tasks.data[number].launch.index, index);
        assert_int_equal(f->tasks.data[number].executor, executor);
        assert_int_equal(f->tasks.data[number].launch.locality, level);
}

static inline void wait_until(struct fix *f, int64_t now)
{
        f->now = now;
        sched_tick(f->s, now);
        sched_revive(f->s, now);
}

/* Number of executors to kill so far. */
static inline int take_kills(struct fix *f)
{
        int n = 0;

        for (struct executor_kill kill; sched_next_kill(f->s, &kill); n++)
                free(kill.reason);
        return n;
}
