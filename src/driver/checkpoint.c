/*
 * See checkpoint.h.
 *
 * As in Spark, of RDDs of which one is computed from the other the nearest to the action goes first, and the action
 * that follows does the next; with the local property spark.checkpoint.checkpointAllMarkedAncestors=true all of them at
 * once. One thread makes a checkpoint at a time; others whose jobs want the same wait for it.
 */
#include "driver/checkpoint.h"

#include "base/mem.h"
#include "driver/actions.h"
#include "driver/claim.h"
#include "driver/local_properties.h"
#include "exec/action_kinds.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_walk.h"

#define ALL_ANCESTORS "spark.checkpoint.checkpointAllMarkedAncestors"

/* --------------------------------------------------------------------------------------------- partitions that are
 * kept */

static int no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

static void no_reset(struct action *action)
{
}

/* Have every partition of a persisted RDD in the block store. */
static int compute_missing(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        struct action action = {.class = &count_action_class, .type = rdd->type, .merge = no_merge, .reset = no_reset};
        _cleanup_free_ int *missing = new_array(int, (size_t)rdd->lineage.partitions + 1);
        int n = 0;
        for (int p = 0; p < rdd->lineage.partitions; p++)
                if (!rdd_registry_cached(rdd->sc, rdd->lineage.id, p))
                        missing[n++] = p;
        return n ? action_run_job(rdd, &action, missing, n, site, error) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ one */

struct change {
        fst_rdd *rdd, *source;
};

static void set_checkpoint(void *owner, struct scheduler_backend *backend, bool allocates)
{
        const struct change *change = owner;
        rdd_set_checkpoint(change->rdd, change->source);
}

static int make(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        site.operation = "checkpoint";
        int r = compute_missing(rdd, site, error);
        if (r)
                return r;
        struct change change = {rdd, rdd_local_checkpoint(rdd)};
        job_runner_call(rdd->sc->runner, set_checkpoint, &change);
        return 0;
}

static int checkpoint(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        if (!claim_take(rdd, rdd_is_checkpointed))
                return 0;
        int r = make(rdd, site, error);
        if (r == 0)
                rdd_registry_want_checkpoint(rdd->sc, -1);
        claim_release(rdd);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- those of a job
 */

static bool is_wanted(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        bool wanted = rdd->checkpoint.wanted;
        rdd_registry_unlock(rdd->sc);
        return wanted && !rdd_is_checkpointed(rdd);
}

static bool all_ancestors(fst_context *sc)
{
        const struct strmap *properties = local_properties(sc, false);
        const char *all = properties ? strmap_get(properties, ALL_ANCESTORS) : NULL;
        return all && strcmp(all, "true") == 0;
}

int checkpoint_after_job(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        if (rdd_registry_want_checkpoint(rdd->sc, 0) <= 0)
                return 0;
        bool all = all_ancestors(rdd->sc);
        struct rdd_walk walk;
        int r = 0;
        rdd_walk_init(&walk, rdd, RDD_WALK_ALL);
        bool *reached = new_array(bool, walk.n), *wanted = new_array(bool, walk.n);
        reached[walk.n - 1] = true;
        for (uint32_t i = walk.n; i-- > 0;) {
                if (!reached[i])
                        continue;
                int n;
                fst_rdd *const *parents = rdd_walk_parents(&walk, i, &n);
                wanted[i] = is_wanted(walk.rdds[i]);
                for (int k = 0; k < n && (all || !wanted[i]); k++)
                        reached[rdd_walk_index(&walk, parents[k])] = true;
        }
        for (uint32_t i = 0; i < walk.n && r == 0; i++)
                if (wanted[i])
                        r = checkpoint(walk.rdds[i], site, error);
        free(reached);
        free(wanted);
        rdd_walk_deinit(&walk);
        return r;
}
