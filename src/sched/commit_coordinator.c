/*
 * Spark's OutputCommitCoordinator. Departure: if an authorized attempt asks again (a request or a reply was repeated),
 * it is authorized again, where Spark denies it. No other attempt can have committed meanwhile.
 *
 * Invariant: the authorized attempt of a partition is never listed as failed.
 */
#include "sched/commit_coordinator.h"

#include "base/log.h"
#include "base/vec.h"

#define LOG "OutputCommitCoordinator"

struct attempt {
        int partition, stage_attempt, number;
};

struct commit_stage {
        int id, partitions;
        struct attempt *committers; /* by partition, number -1 if none; NULL until an attempt asks */
        VEC(struct attempt) failed;
};

struct commit_coordinator {
        VEC(struct commit_stage) stages; /* running stages, few */
};

struct commit_coordinator *commit_coordinator_new(void)
{
        return new0(struct commit_coordinator);
}

static struct commit_stage *commit_coordinator_find(const struct commit_coordinator *c, int stage)
{
        for (size_t i = 0; i < c->stages.len; i++)
                if (c->stages.data[i].id == stage)
                        return &c->stages.data[i];
        return NULL;
}

bool commit_coordinator_stage_start(struct commit_coordinator *c, int stage, int partitions)
{
        struct commit_stage *known = commit_coordinator_find(c, stage);

        if (known)
                return known->partitions == partitions;
        vec_push(&c->stages, (struct commit_stage){.id = stage, .partitions = partitions});
        return true;
}

static void stage_deinit(struct commit_stage *s)
{
        free(s->committers);
        vec_deinit(&s->failed);
}

void commit_coordinator_stage_end(struct commit_coordinator *c, int stage)
{
        struct commit_stage *s = commit_coordinator_find(c, stage);

        if (!s)
                return;
        stage_deinit(s);
        *s = c->stages.data[--c->stages.len];
}

void commit_coordinator_free(struct commit_coordinator *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->stages.len; i++)
                stage_deinit(&c->stages.data[i]);
        vec_deinit(&c->stages);
        free(c);
}

static bool commit_coordinator_same(const struct attempt *a, const struct attempt *b)
{
        return a->partition == b->partition && a->stage_attempt == b->stage_attempt && a->number == b->number;
}

/* Most stages write nothing: only the first attempt that asks brings the 12 bytes of each partition. */
static struct attempt *commit_stage_committer(struct commit_stage *s, int partition)
{
        if (!s->committers) {
                s->committers = new_array(struct attempt, (size_t)s->partitions);
                for (int p = 0; p < s->partitions; p++)
                        s->committers[p].number = -1;
        }
        return &s->committers[partition];
}

bool commit_coordinator_may_commit(struct commit_coordinator *c, int stage, int stage_attempt, int partition,
                                   int attempt)
{
        struct commit_stage *s = commit_coordinator_find(c, stage);
        struct attempt asker = {partition, stage_attempt, attempt};

        if (!s || partition < 0 || partition >= s->partitions) {
                log_debug(LOG, "Commit denied for stage=%d.%d, partition=%d: stage already marked as completed.", stage,
                          stage_attempt, partition);
                return false;
        }
        for (size_t i = 0; i < s->failed.len; i++)
                if (commit_coordinator_same(&s->failed.data[i], &asker)) {
                        log_info(
                                LOG,
                                "Commit denied for stage=%d.%d, partition=%d: task attempt %d already marked as failed.",
                                stage, stage_attempt, partition, attempt);
                        return false;
                }
        struct attempt *committer = commit_stage_committer(s, partition);

        if (committer->number < 0)
                *committer = asker;
        return commit_coordinator_same(committer, &asker);
}

void commit_coordinator_failed(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt)
{
        struct commit_stage *s = commit_coordinator_find(c, stage);
        struct attempt failed = {partition, stage_attempt, attempt};

        if (!s || partition < 0 || partition >= s->partitions)
                return;
        vec_push(&s->failed, failed);
        if (!s->committers || !commit_coordinator_same(&s->committers[partition], &failed))
                return;
        log_debug(LOG, "Authorized committer (attemptNumber=%d, stage=%d, partition=%d) failed; clearing lock", attempt,
                  stage, partition);
        s->committers[partition].number = -1;
}

bool commit_coordinator_is_empty(const struct commit_coordinator *c)
{
        return c->stages.len == 0;
}
