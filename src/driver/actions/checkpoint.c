/*
 * See checkpoint.h.
 *
 * As in Spark, of several marked RDDs in one lineage the nearest to the action is written first, and the next action
 * writes the next. The local property spark.checkpoint.checkpointAllMarkedAncestors=true writes all of them at once.
 * One thread writes a checkpoint at a time. Other threads that need it wait.
 */
#include "driver/actions/checkpoint.h"

#include "base/mem.h"
#include "driver/actions/actions.h"
#include "driver/actions/single_flight.h"
#include "driver/local_properties.h"
#include "exec/actions/action_kinds.h"
#include "io/fs/file_systems.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_visit.h"
#include "store/storage_level.h"

#define ALL_ANCESTORS "spark.checkpoint.checkpointAllMarkedAncestors"

FST_API int fst_set_checkpoint_dir(fst_context *sc, const char *dir)
{
        sc = context_given(sc, rdd_site("set_checkpoint_dir"));
        _cleanup_(context_leave) fst_context *in = context_enter(sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = !dir || !*dir ? error_set(&error, -EINVAL, "the path is missing or empty") : 0;
        if (r == 0)
                r = rdd_registry_set_checkpoint_dir(sc, dir, &error);
        return r ? context_action_failed(sc, "set_checkpoint_dir", r, &error) : 0;
}

/* ------------------------------------------------------------------------------------------------ local checkpoints */

/* Store every partition of a persisted RDD in the block store, at a level that uses disk. */
static int checkpoint_compute_missing(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        int level = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (!storage_level_uses_disk((enum fst_storage_level)level))
                return error_set(
                        error, -EINVAL,
                        "RDD %d was marked for a local checkpoint and then unpersisted, which removes its only copy: do "
                        "not call fst_unpersist after fst_local_checkpoint",
                        rdd->lineage.id);
        struct action action = {.class = &count_action_class, .type = rdd->type, .merge = action_no_merge};
        _cleanup_free_ int *missing = new_array(int, (size_t)rdd->lineage.partitions + 1);
        int n = 0;
        for (int p = 0; p < rdd->lineage.partitions; p++)
                if (rdd->checkpoint.relevel || !rdd_registry_cached(rdd->sc, rdd->lineage.id, p))
                        missing[n++] = p;
        return n ? action_run_job(rdd, &action, missing, n, site, error) : 0;
}

/* --------------------------------------------------------------------------------------------------- one checkpoint */

struct checkpoint_change {
        fst_rdd *rdd, *source;
};

static void checkpoint_set(void *owner, struct scheduler_backend *backend, bool allocates)
{
        const struct checkpoint_change *change = owner;
        rdd_set_checkpoint(change->rdd, change->source);
}

/* Lists the written files, each as one split. */
static int checkpoint_find_parts(fst_rdd *rdd, struct input_splits *splits, struct fst_error *error)
{
        const struct file_system *fs;
        int r = file_system_of(rdd->checkpoint.path, &fs, error);
        for (int p = 0; p < rdd->lineage.partitions && r == 0; p++) {
                _cleanup_free_ char *path = mem_printf("%s/part-%05d", rdd->checkpoint.path, p);
                struct file_status status = {0};
                r = fs->stat(fs, path, &status, error);
                if (r == 0)
                        r = input_splits_cut(splits, &status, CODEC_NONE, MAX(status.size, (uint64_t)1), true, error);
                file_status_deinit(&status);
        }
        return r;
}

static int checkpoint_make_files(fst_rdd *rdd, fst_rdd **source, fst_site site, struct fst_error *error)
{
        struct input_splits splits = INPUT_SPLITS_INIT;
        int r = action_save_checkpoint(rdd, rdd->checkpoint.path, site, error);
        if (r == 0)
                r = checkpoint_find_parts(rdd, &splits, error);
        if (r == 0)
                *source = rdd_checkpoint_files(rdd, &splits);
        input_splits_deinit(&splits);
        return r;
}

static int checkpoint_make(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        struct checkpoint_change change = {.rdd = rdd};
        int r;
        site.operation = "checkpoint";
        if (rdd->checkpoint.local) {
                r = checkpoint_compute_missing(rdd, site, error);
                if (r == 0)
                        change.source = rdd_local_checkpoint(rdd);
        } else {
                r = checkpoint_make_files(rdd, &change.source, site, error);
        }
        if (r == 0)
                job_runner_call(rdd->sc->runner, checkpoint_set, &change);
        return r;
}

static int checkpoint_write(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        if (!single_flight_begin(rdd, rdd_is_checkpointed))
                return 0;
        int r = checkpoint_make(rdd, site, error);
        if (r == 0)
                rdd_registry_want_checkpoint(rdd->sc, -1);
        single_flight_end(rdd);
        return r;
}

/* --------------------------------------------------------------------------------------------- checkpoints of a job */

static bool checkpoint_is_due(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        bool wanted = rdd->checkpoint.wanted;
        rdd_registry_unlock(rdd->sc);
        return wanted && !rdd_is_checkpointed(rdd);
}

static bool checkpoint_all_ancestors(fst_context *sc)
{
        const struct strmap *properties = local_properties(sc, false);
        const char *all = properties ? strmap_get(properties, ALL_ANCESTORS) : NULL;
        return all && strcmp(all, "true") == 0;
}

int checkpoint_after_job(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        if (rdd_registry_want_checkpoint(rdd->sc, 0) <= 0)
                return 0;
        bool all = checkpoint_all_ancestors(rdd->sc);
        struct rdd_visit walk;
        int r = 0;
        rdd_visit_init(&walk, rdd, RDD_VISIT_ALL);
        bool *reached = new_array(bool, walk.n), *wanted = new_array(bool, walk.n);
        reached[walk.n - 1] = true;
        for (uint32_t i = walk.n; i-- > 0;) {
                if (!reached[i])
                        continue;
                int n;
                fst_rdd *const *parents = rdd_visit_parents(&walk, i, &n);
                wanted[i] = checkpoint_is_due(walk.rdds[i]);
                for (int k = 0; k < n && (all || !wanted[i]); k++)
                        reached[rdd_visit_index(&walk, parents[k])] = true;
        }
        for (uint32_t i = 0; i < walk.n && r == 0; i++)
                if (wanted[i])
                        r = checkpoint_write(walk.rdds[i], site, error);
        free(reached);
        free(wanted);
        rdd_visit_deinit(&walk);
        return r;
}
